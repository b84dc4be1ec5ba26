#include "fabric/nic/core/memory.h"

namespace remora::fabric::nic {

bool Memory::add(RegisteredMemory& memory, Keys& keys) {
  memory.key = regions_.add(memory, keys);
  return memory.key != 0;
}

void Memory::remove(const RegisteredMemory& memory) {
  regions_.remove(memory.key);
  pages_.forget(memory.key);
}

}  // namespace remora::fabric::nic
