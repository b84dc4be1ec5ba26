// A power that is the same on every machine. The one of the C library differs in its last bit from
// version to version and from CPU to CPU, and a key drawn with it would now and then be another
// key: a seed must replay. Plain double arithmetic, with tables that the compiler makes.
//
// Any thread; never fails.
#pragma once

namespace remora::workload {

// base to the exponent, to about 13 digits (fewer where the exponent is in the hundreds). The base
// must be a positive, normal number; a result too small for a normal number is 0.
double power(double base, double exponent);

}  // namespace remora::workload
