// IntrusiveList: a doubly linked list whose links live in its members, so that it never allocates.
// The list owns nothing. A member that is destroyed leaves its list; a list that is destroyed lets
// its members go. Not safe across threads.
#pragma once

#include "base/check.h"

namespace remora {

// The link of one member. It is in at most one list at a time.
class ListHook {
 public:
  ListHook() = default;
  ListHook(const ListHook&) = delete;
  ListHook& operator=(const ListHook&) = delete;
  ~ListHook() { unlink(); }

  bool linked() const { return next_ != nullptr; }

  // Leaves the list; does nothing for one that is in none.
  void unlink() {
    if (next_ != nullptr) {
      previous_->next_ = next_;
      next_->previous_ = previous_;
      next_ = previous_ = nullptr;
    }
  }

 private:
  template <typename T>
  friend class IntrusiveList;

  ListHook* next_ = nullptr;
  ListHook* previous_ = nullptr;
};

// T derives from ListHook.
template <typename T>
class IntrusiveList {
 public:
  IntrusiveList() { head_.next_ = head_.previous_ = &head_; }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;
  ~IntrusiveList() { clear(); }

  bool empty() const { return head_.next_ == &head_; }

  // The first member. The list must have one.
  T& front() {
    REMORA_CHECK(!empty(), "asked an empty list for its first member");
    return static_cast<T&>(*head_.next_);
  }

  // The member must be in no list.
  void push_back(T& member) {
    ListHook& hook = member;
    REMORA_CHECK(!hook.linked(), "it is in a list already");
    hook.previous_ = head_.previous_;
    hook.next_ = &head_;
    head_.previous_->next_ = &hook;
    head_.previous_ = &hook;
  }

  T& pop_front() {
    T& member = front();
    member.unlink();
    return member;
  }

  // Lets every member go.
  void clear() {
    while (!empty()) {
      pop_front();
    }
  }

  // Takes over every member of `other`, in their order, behind those that are here.
  void take_all(IntrusiveList& other) {
    if (other.empty()) {
      return;
    }
    ListHook* first = other.head_.next_;
    ListHook* last = other.head_.previous_;
    other.head_.next_ = other.head_.previous_ = &other.head_;
    first->previous_ = head_.previous_;
    head_.previous_->next_ = first;
    last->next_ = &head_;
    head_.previous_ = last;
  }

  // Calls visit(member) for each, in order. The visit may unlink the member that it is given, and
  // no other.
  template <typename Visit>
  void for_each(Visit visit) {
    for (ListHook* hook = head_.next_; hook != &head_;) {
      ListHook* next = hook->next_;
      visit(static_cast<T&>(*hook));
      hook = next;
    }
  }

 private:
  ListHook head_;
};

}  // namespace remora
