#include "fabric/nic/core/memory.h"

namespace remora::fabric::nic {

bool Memory::add(RegisteredMemory& memory, Keys& keys) {
  ++changes_;
  memory.key = regions_.add(memory, keys);
  return memory.key != 0;
}

void Memory::remove(const RegisteredMemory& memory) {
  ++changes_;
  regions_.remove(memory.key);
  pages_.forget(memory.key);
}

}  // namespace remora::fabric::nic
