// A mistake to plant: to be loaded before a program (LD_PRELOAD), so that whatever it syncs is not
// synced, and it is told that it was. A test of power cuts that does not notice this is none.
#include <cstddef>

extern "C" {

int msync(void* /*from*/, std::size_t /*size*/, int /*flags*/) {
  return 0;
}

int fsync(int /*descriptor*/) {
  return 0;
}

int fdatasync(int /*descriptor*/) {
  return 0;
}

}  // extern "C"
