// The layout of files in a pool, as it lies on the medium. docs/formats/file.md is its document;
// this header and that text say the same. Little-endian, offsets from the start of the pool.
//
// There are four kinds of objects, all of the account `files`:
//
//   superblock  one, under the root `files`: where everything begins
//   inode       of every file: attributes, and where its tree begins
//   node        of a tree, or a symbolic link's target, or extended attributes. A node is never
//               changed: a transaction publishes another, sealed, and frees the one before.
//   run         whole blocks of a file's bytes, which are written in place
//
// Superblock and inodes are words that transactions set, and nothing else ever writes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "pmem/pool_format.h"

namespace remora::file {

// Of an inode: its place in the pool. It is used again when the file is gone; `born_ns` differs.
using Number = std::uint64_t;

namespace format {

inline constexpr std::string_view root_name = "files";
inline constexpr std::uint64_t magic = 0x53454c4946524d52;  // "RMRFILES"
inline constexpr std::uint32_t version = 1;
inline constexpr std::uint64_t block_bytes = pool_format::block_bytes;
inline constexpr std::size_t longest_name = 255;
inline constexpr std::size_t longest_target = 4095;
inline constexpr std::size_t most_attribute_bytes = 64 << 10;  // of a file, names and values
inline constexpr std::uint64_t largest_size = std::uint64_t{1} << 62;

struct Superblock {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t features;  // zero: a program that does not know one refuses the volume
  Number root;
  Number orphans;           // the first of those that are to be freed or cut short; 0: none
  std::uint64_t hash_seed;  // of names
  std::uint32_t leaf_bytes;
  std::uint32_t branch_bytes;
  std::uint64_t made_ns;
  std::array<std::uint64_t, 8> reserved;  // zero
  std::uint64_t check;                    // of the words before it, and the place
};
static_assert(sizeof(Superblock) == 128 && std::has_unique_object_representations_v<Superblock>);
static_assert(offsetof(Superblock, check) == 120);

struct Inode {
  std::uint32_t mode;  // type and permissions, as st_mode has them
  std::uint32_t links;
  std::uint32_t uid;
  std::uint32_t gid;
  std::uint64_t size;  // of a directory: 0
  Offset tree;         // the root node; of a symbolic link its target; 0 when there is nothing
  Offset attributes;   // node; 0 when there are none
  Number parent;       // of a directory
  Number next_orphan;
  std::uint64_t blocks;  // that its runs have
  std::uint64_t device;  // of a device file
  std::uint64_t atime_ns;
  std::uint64_t mtime_ns;
  std::uint64_t ctime_ns;
  std::uint64_t born_ns;
  std::uint64_t reserved[2];  // zero
  std::uint64_t check;        // of the words before it, and the place
};
static_assert(sizeof(Inode) == 128 && std::has_unique_object_representations_v<Inode>);
static_assert(offsetof(Inode, check) == 120);

using Words = std::array<std::uint64_t, 16>;
static_assert(sizeof(Words) == sizeof(Inode) && sizeof(Words) == sizeof(Superblock));

enum class NodeKind : std::uint8_t { directory = 1, extents = 2, target = 3, attributes = 4 };

inline constexpr std::uint32_t node_magic = 0x45444f4e;  // "NODE"

// `count` entries follow, in the order of their keys; or the bytes of a target, or attributes.
struct NodeHead {
  std::uint32_t magic;
  NodeKind kind;
  std::uint8_t height;  // 0: a leaf
  std::uint16_t count;
  Number owner;
  Offset place;            // of this node
  std::uint32_t bytes;     // with the head
  std::uint32_t checksum;  // crc32c of these bytes, with this field as 0
};
static_assert(sizeof(NodeHead) == 32 && std::has_unique_object_representations_v<NodeHead>);
static_assert(offsetof(NodeHead, checksum) == 28);

// An entry of a tree. Its name follows, padded with zeros to whole words.
//               key                           value              detail
//   branch      the first key of the child    place of the child 0
//   directory   that of the name              number             S_IFMT bits of the mode
//   extents     first block, of the file      its place          blocks
struct EntryHead {
  std::uint64_t key;
  std::uint64_t value;
  std::uint32_t detail;
  std::uint16_t name_bytes;  // 0 but in leaves of directories
  std::uint16_t reserved;    // zero
};
static_assert(sizeof(EntryHead) == 24 && std::has_unique_object_representations_v<EntryHead>);

// Before each attribute: its name and its value follow, without padding.
struct AttributeHead {
  std::uint32_t value_bytes;
  std::uint16_t name_bytes;
  std::uint16_t reserved;  // zero
};
static_assert(sizeof(AttributeHead) == 8);

constexpr std::size_t entry_bytes(std::size_t name_bytes) {
  return sizeof(EntryHead) + round_up(name_bytes, word_bytes);
}

// Names share a key but for its low four bits: so many names with one hash a directory can have.
inline constexpr std::uint64_t names_of_a_hash = 16;

// The key that a name's entry has, with the lowest four bits 0. At least 16, and below 2^63: so a
// key is a position in a directory that any system understands.
std::uint64_t key_of(std::string_view name, std::uint64_t hash_seed);

// What `check` must be in a superblock or an inode with these words, which lies at that place.
std::uint64_t check_of(const Words& words, Offset place);
// The same for a node in these bytes, which begin with its head.
std::uint32_t checksum_of(ConstBytes node);

}  // namespace format
}  // namespace remora::file
