#include "fabric/verbs/device_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/verbs/verbs_device.h"

namespace remora::fabric::verbs {
namespace {

using testing::HasSubstr;

TEST(DeviceList, an_unknown_device_is_refused_with_what_to_do) {
  const Result<OpenContext> opened = open_device("no-such-device");
  ASSERT_FALSE(opened.ok());
  const std::vector<std::string> names = device_names();
  EXPECT_EQ(opened.code(), names.empty() ? Code::unsupported : Code::not_found);
  EXPECT_THAT(std::string(opened.status().message()),
              HasSubstr(names.empty() ? "modprobe rdma_rxe" : names.front()));
}

TEST(DeviceList, a_machine_without_one_is_told_how_to_make_one) {
  EXPECT_EQ(no_device().code(), Code::unsupported);
  EXPECT_THAT(std::string(no_device().message()), HasSubstr("rdma link add rxe0 type rxe netdev"));
}

TEST(VerbsDevice, a_wire_names_a_device_and_a_port) {
  EXPECT_EQ(parse_wire("verbs")->device, "");
  EXPECT_EQ(parse_wire("verbs:mlx5_0")->device, "mlx5_0");
  EXPECT_EQ(parse_wire("verbs:mlx5_0")->port, 0);
  EXPECT_EQ(parse_wire("verbs:mlx5_0/2")->device, "mlx5_0");
  EXPECT_EQ(parse_wire("verbs:mlx5_0/2")->port, 2);
  for (const char* wrong : {"verb", "verbs:", "verbs/1", "verbs:/1", "verbs:mlx5_0/",
                            "verbs:mlx5_0/0", "verbs:mlx5_0/256", "verbs:mlx5_0/1x"}) {
    EXPECT_FALSE(parse_wire(wrong)) << wrong;
  }
}

TEST(VerbsDevice, a_device_opens_exactly_where_there_is_one) {
  const Result<std::unique_ptr<VerbsDevice>> device = VerbsDevice::open({});
  EXPECT_EQ(device.ok(), !device_names().empty()) << device.status().message();
}

}  // namespace
}  // namespace remora::fabric::verbs
