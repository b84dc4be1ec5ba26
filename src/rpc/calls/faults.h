// The mistakes that can be planted in durable calls. Each must be noticed by the crash world.
#pragma once

#include <array>

#include "base/faults.h"

namespace remora::rpc::calls::faults {

// --- The log.
inline constexpr Fault checksum_ignored{"calls-checksum-ignored",
                                        "an entry counts though its data did not all arrive"};
inline constexpr Fault operator_first{
    "calls-operator-first", "the operator is stored together with the data, and not after it"};
inline constexpr Fault hole_skipped{"calls-hole-skipped",
                                    "recovery goes on behind an entry that is missing"};

// --- The sender.
inline constexpr Fault told_before_flush{
    "calls-told-before-flush", "a call is called persistent when its WRITE has completed"};
inline constexpr Fault batch_flushed_first{"calls-batch-flushed-first",
                                           "the FLUSH of a batch covers its first entry alone"};
inline constexpr Fault flush_trusted{
    "calls-flush-trusted", "the sender's FLUSH is trusted though the device promises less"};
inline constexpr Fault credit_ignored{"calls-credit-ignored",
                                      "the sender writes over entries that are not freed"};

// --- The receiver.
inline constexpr Fault told_before_drain{
    "calls-told-before-drain", "the receiver calls entries persistent before its flush has ended"};
inline constexpr Fault order_trusted{
    "calls-order-trusted", "the sender's order of data and operator is trusted without its FLUSH"};
inline constexpr Fault record_ignored{"calls-record-ignored",
                                      "a call runs again though its record says that it has run"};
inline constexpr Fault record_apart{"calls-record-apart",
                                    "the record is written after the effects, not with them"};
inline constexpr Fault result_first{"calls-result-first",
                                    "a result leaves before its record is persistent"};
inline constexpr Fault head_before_record{
    "calls-head-before-record", "an entry is freed before its completion record is persistent"};
inline constexpr Fault head_before_mark{"calls-head-before-mark",
                                        "the sender is told of freed space before the mark is"
                                        " persistent"};
inline constexpr Fault recovery_backwards{"calls-recovery-backwards",
                                          "recovery runs the newest entry first"};
inline constexpr Fault key_ignored{"calls-key-ignored", "calls of one order key overlap"};
inline constexpr Fault resume_too_soon{
    "calls-resume-too-soon", "a new epoch begins before the entries of the old one have run"};
inline constexpr Fault mark_torn{"calls-mark-torn", "the mark that counts is written in place"};

// Of a design where the sender flushes, and of one where the receiver does.
inline constexpr std::array of_sender = {
    &checksum_ignored,    &operator_first, &hole_skipped,       &told_before_flush,
    &batch_flushed_first, &flush_trusted,  &credit_ignored,     &record_ignored,
    &record_apart,        &result_first,   &head_before_record, &head_before_mark,
    &recovery_backwards,  &key_ignored,    &resume_too_soon,    &mark_torn,
};
inline constexpr std::array of_receiver = {
    &told_before_drain, &order_trusted,    &checksum_ignored,
    &record_ignored,    &head_before_mark, &resume_too_soon,
};

}  // namespace remora::rpc::calls::faults
