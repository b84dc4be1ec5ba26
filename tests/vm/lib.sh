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

# Whether a process that we began still runs: the process of that id, if its command line holds the given word.
runs() {
  local pid=$1 word=$2
  local words
  words=$(tr '\0' ' ' 2> /dev/null < "/proc/${pid:-none}/cmdline") || return 1
  [[ $words == *"$word"* ]]
}
