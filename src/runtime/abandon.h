// The one way in which a flow may end without finishing: its world lost power.
#pragma once

namespace remora {

// While one of these lives, Tasks of the calling thread may be destroyed unfinished, and what they
// wait for may be destroyed before them. For simulated power cuts alone: the flow does not run on,
// but the destructors of its locals do run, so they must neither touch persistent memory nor
// announce anything. Scopes may nest.
class AbandonScope {
 public:
  AbandonScope() { ++depth_; }
  AbandonScope(const AbandonScope&) = delete;
  AbandonScope& operator=(const AbandonScope&) = delete;
  ~AbandonScope() { --depth_; }

  // Whether the calling thread is inside such a scope.
  static bool active() { return depth_ != 0; }

 private:
  static constinit inline thread_local int depth_ = 0;
};

}  // namespace remora
