# Backend that runs the guest in User-Mode Linux, a kernel that runs as a process. Sourced by
# bin/with-verbs.
# shellcheck shell=bash disable=SC2034,SC2154

uml_kernel() {
  cached_kernel uml "$newest_suite" "$testbed"/uml/config "$testbed"/uml/patches/*.patch
}

# Sets guest and boot_seconds.
prepare_uml() {
  local folder
  folder=$(uml_kernel)
  check_max_map_count
  cat /proc/cpuinfo >"$run/cpuinfo"
  cp "$testbed/guest/uml-init" "$run/init"
  guest=(env "TMPDIR=$(uml_memory_folder)" "$folder/linux" "mem=${memory}M" "ncpus=$cpus" seccomp=on
    execpin=1 "uml_dir=$run" umid=uml root=/dev/root rootfstype=hostfs rootflags=/ ro
    "init=$run/init" "run=$run" con=null "con0=null,fd:1" dummy.numdummies=0
    loglevel=7 mitigations=off panic=-1)
  boot_seconds=60
}

# Raises vm.max_map_count if it is too low. Each process of the guest is a process of the machine, with a
# mapping for each run of pages: 28,000 for a JVM with a heap of 1.5 GiB.
check_max_map_count() {
  local count enough=262144 wanted=1048576
  count=$(</proc/sys/vm/max_map_count)
  ((count < enough)) || return 0
  if sysctl -qw vm.max_map_count=$wanted 2>/dev/null; then
    say "raised vm.max_map_count from $count to $wanted"
  else
    say "vm.max_map_count is $count: the guest hangs when a process in it has more than about 3 GiB;" \
      "as root: sysctl -w vm.max_map_count=$wanted"
  fi
}

# Prints a folder for the guest's memory, which is a file. Only pages that the guest touched take space.
uml_memory_folder() {
  local folder
  for folder in /dev/shm "${TMPDIR:-/tmp}" /var/tmp; do
    if (($(df --output=avail -B1M "$folder" | tail -n 1) > memory)) &&
      [[ ,$(findmnt -no OPTIONS -T "$folder"), != *,noexec,* ]]; then
      echo "$folder"
      return
    fi
  done
  fail "no folder has room for $memory MiB of guest memory: set TMPDIR, or --memory"
}
