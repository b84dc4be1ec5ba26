# What the commands of tests/vm share. To be sourced.

say() { echo "vm: $*" >&2; }

# The environment cannot serve.
lacking() {
  say "$*"
  exit 3
}

need_tools() {
  local tool
  for tool in "$@"; do
    if ! command -v "$tool" > /dev/null; then
      lacking "$tool is not installed; scripts/setup --vm installs it"
    fi
  done
}

# Whether a process that we began still runs: the process of that id, if it knows the given word.
runs() {
  local pid=$1 word=$2
  [[ -n $pid && -r /proc/$pid/cmdline ]] && tr '\0' ' ' < "/proc/$pid/cmdline" | grep -qF -- "$word"
}
