# What a guest is: how it is booted, given work, and ended. To be sourced after lib.sh, by `guest`, which
# sets what a guest is to have: timeout, pmem, dax, disk, lan, address, memory, cpus, life, barrier.

boot_patience=600  # a boot takes some 6 s, but others may keep this machine busy

# What a guest does not do while it boots: tests of its ciphers, hardening, waiting for chance.
quick="nokaslr mitigations=off cryptomgr.notests lsm= audit=0 no_timer_check nowatchdog"
quick+=" rcupdate.rcu_expedited=1 random.trust_cpu=on initcall_blacklist=jent_mod_init,crypto_kdf108_init"

acceleration() {
  if [[ -n ${REMORA_VM_ACCEL-} ]]; then
    echo "$REMORA_VM_ACCEL"
  elif [[ -r /dev/kvm && -w /dev/kvm ]] && grep -qwE 'vmx|svm' /proc/cpuinfo; then
    # A /dev/kvm on a processor without either serves only guests made for it.
    echo kvm
  else
    echo tcg
  fi
}

# A disk is two files: what it holds for good, and what this boot has changed. In the second one (qcow2)
# a block that was written is found only when the table that leads to it is written too; qemu keeps that in
# its memory until the guest flushes the disk. So a cut takes what was not flushed, as it does from
# the volatile cache of a real disk, but for blocks that this boot had flushed once before. qemu writes all
# of its tables whenever it makes another one; so the clusters are large, and one table leads to the whole
# disk. Their parts are as small as the file system's blocks, and each is there or not by itself.
prepare_disk() {
  local file=$1
  need_tools mkfs.ext4 qemu-img
  if [[ ! -f $file ]]; then
    mkdir -p "$(dirname "$file")"
    truncate -s 256M "$file.new"
    # Its inodes are written now, so that a guest need not do that later on.
    mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$file.new"
    mv "$file.new" "$file"
  fi
  if [[ -f $file.changes ]]; then
    timeout 120 qemu-img commit -q "$file.changes"
    rm "$file.changes"
  fi
  qemu-img create -q -f qcow2 -o "cluster_size=128k,extended_l2=on,backing_file=$file,backing_fmt=raw" "$file.changes"
}

running() {
  [[ -f $1/pid ]] && runs "$(< "$1/pid")" "$1/pid"
}

boot() {
  local folder=$1
  need_tools qemu-system-x86_64 busybox
  if running "$folder"; then
    wrong "a guest runs in $folder already"
  fi
  local kernel accel
  kernel=$("$here/kernel")
  accel=$(acceleration)
  rm -rf "$folder"/{pid,port.in,port.out,console,qemu.log} "$folder"/out/{jobs,ready,trouble}
  mkdir -p "$folder/out/jobs"
  mkfifo "$folder/port.in" "$folder/port.out"
  local settings= cpu=max netdev=user,id=net,restrict=on,ipv6=off
  local -a wrapper=() devices=()
  if ((address > 0)); then
    settings+=" remora.address=$address"
  fi
  if [[ $accel == kvm ]]; then
    cpu=host
  fi
  local nvdimm slot=0
  for nvdimm in pmem dax; do
    local file=${!nvdimm}
    if [[ -n $file ]]; then
      if [[ ! -f $file ]]; then
        mkdir -p "$(dirname "$file")"
        truncate -s 256M "$file"
      fi
      settings+=" remora.$nvdimm=$slot"
      devices+=(
        -object "memory-backend-file,id=$nvdimm,share=on,mem-path=$file,size=256M"
        -device "nvdimm,memdev=$nvdimm")
      slot=$((slot + 1))
    fi
  done
  if [[ -n $disk ]]; then
    prepare_disk "$disk"
    settings+=" remora.disk=$barrier"
    devices+=(
      -drive "file=$disk.changes,format=qcow2,l2-cache-size=1M,if=none,id=disk,cache=writeback"
      -device virtio-blk-pci,drive=disk)
  fi
  if [[ -n $lan ]]; then
    "$here/lan" start "$lan" "$life"
    wrapper=("$here/lan" exec "$lan" --)
    netdev=tap,id=net,ifname=tap$address,script=no,downscript=no
  fi
  setsid timeout -s KILL "$life" ${wrapper[@]+"${wrapper[@]}"} \
    qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none \
    -machine pc,nvdimm=on -accel "$accel" -cpu "$cpu" -smp "$cpus" \
    -m "${memory}M,slots=2,maxmem=4G" \
    -kernel "$kernel/vmlinuz" -initrd "$kernel/initramfs" \
    -append "console=ttyS0 quiet loglevel=4 panic=-1 $quick$settings" \
    -serial "file:$folder/console" -pidfile "$folder/pid" \
    -device virtio-serial-pci -chardev "pipe,id=port,path=$folder/port" \
    -device virtserialport,chardev=port \
    -netdev "$netdev" -device "virtio-net-pci,netdev=net,mac=52:54:00:77:00:0$address,host_mtu=4300" \
    -fsdev local,id=host,path=/,readonly=on,security_model=none,multidevs=remap \
    -device virtio-9p-pci,fsdev=host,mount_tag=host \
    -fsdev "local,id=out,path=$folder/out,security_model=none" \
    -device virtio-9p-pci,fsdev=out,mount_tag=out \
    ${devices[@]+"${devices[@]}"} > "$folder/qemu.log" 2>&1 < /dev/null &
  booting=$!
  local qemu=$booting until=$((SECONDS + boot_patience))
  disown "$qemu"
  while [[ ! -f $folder/out/ready ]]; do
    if ! kill -0 "$qemu" 2> /dev/null || ((SECONDS > until)); then
      cat "$folder/qemu.log" >&2
      tail -n 20 "$folder/console" >&2 2> /dev/null || true
      if ! kill -0 "$qemu" 2> /dev/null && [[ -s $folder/console ]]; then
        say "the guest in $folder began to come up and ended; see above"
        exit 1
      fi
      lacking "the guest in $folder does not come up, or not within $boot_patience s; see above"
    fi
    sleep 0.05
  done
  booting=
  if [[ -f $folder/out/trouble ]]; then
    cat "$folder/out/trouble" >&2
    tail -n 20 "$folder/console" >&2
    cut_off "$folder"
    say "the guest in $folder is not whole; see above"
    exit 124
  fi
}

# Runs a program in a guest, with its output on this one's, and ends with its status.
in_guest() {
  local folder=$1
  shift
  if ! running "$folder"; then
    say "no guest runs in $folder"
    return 124
  fi
  local job
  job=$(mktemp -u XXXXXXXX)
  local files=$folder/out/jobs/$job
  {
    printf 'cd %q || exit 124\n' "$PWD"
    printf 'export HOME=%q PATH=%q\n' "$HOME" "$PATH"
    printf 'exec'
    printf ' %q' "$@"
    echo
  } > "$files.sh"
  : > "$files.out"
  : > "$files.err"
  # Opened both ways, so that this does not wait for a guest that is gone.
  echo "$job $timeout" 1<> "$folder/port.in"
  local until=$((SECONDS + timeout + 20)) status=124
  # What it says is shown as it comes; both end when this function is through.
  tail -n +1 -q -f "$files.out" 2> /dev/null &
  local out=$!
  tail -n +1 -q -f "$files.err" >&2 2> /dev/null &
  local err=$!
  while [[ ! -f $files.status ]]; do
    if ! running "$folder"; then
      say "the guest in $folder ended under the program"
      break
    fi
    if ((SECONDS > until)); then
      say "the guest in $folder does not answer"
      break
    fi
    sleep 0.05
  done
  if [[ -f $files.status ]]; then
    status=$(< "$files.status")
    if ((status == 137)); then
      say "the program was killed; it had $timeout s"
      status=124
    fi
  fi
  # tail looks at its files when they change; a moment for the last lines.
  sleep 0.1
  kill "$out" "$err" 2> /dev/null || true
  wait "$out" "$err" 2> /dev/null || true
  return "$status"
}

# Waits until a program of the guest listens at the port, by TCP or by librdmacm; the other one will say
# if it never does.
await_listener() {
  local pattern
  pattern=$(printf ':%04X [0-9A-F]*:0000 0A' "$listen")
  # shellcheck disable=SC2016
  (
    timeout=60
    in_guest "$1" bash -c '
      until grep -q "$1" /proc/net/tcp /proc/net/tcp6 \
        || rdma resource show cm_id 2> /dev/null | grep -q "LISTEN.*:$2 "; do
        sleep 0.2
      done' wait "$pattern" "$listen"
  ) || true
}

cut_off() {
  if running "$1"; then
    kill -KILL "$(< "$1/pid")" 2> /dev/null || true
    local i
    for ((i = 0; i < 500; ++i)); do
      running "$1" || break
      sleep 0.01
    done
  fi
  rm -f "$1"/{pid,port.in,port.out}
}

stop() {
  local folder=$1 i
  if running "$folder"; then
    echo "off 0" 1<> "$folder/port.in"
    for ((i = 0; i < 400; ++i)); do
      running "$folder" || break
      sleep 0.05
    done
  fi
  cut_off "$folder"
  if [[ -f $folder/lan.pid ]]; then
    "$here/lan" stop "$folder"
  fi
}
