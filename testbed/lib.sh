# What the parts of the test bed share: messages, packages, the cache, Debian's newer kernels.
# Sourced, not started.
# shellcheck shell=bash

testbed=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sluice/testbed

say() {
  printf 'with-verbs: %s\n' "$*" >&2
}

# Ends with the status for "the test bed failed, not the command".
fail() {
  say "$*"
  exit 125
}

# Installs packages that are missing, or names them where that takes another user or distribution.
need_packages() {
  local package missing=()
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
    fail "these packages are missing; as root: apt-get install ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  { timeout 600 apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive timeout 1200 \
      apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null || {
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail "could not install ${missing[*]}"
  }
  rm -f "$log"
}

newest_suite=trixie-backports

# Makes a view of a suite of Debian, by default of the one with the newest kernels, in a folder of its
# own: the machine's own package lists stay as they are. Then: apt_view_get FOLDER download PACKAGE
make_apt_view() {
  local folder=$1 suite=${2:-$newest_suite} mirror
  need_packages debian-archive-keyring
  mkdir -p "$folder"/{lists/partial,archives/partial}
  mirror=$(find /etc/apt -maxdepth 2 \( -name '*.list' -o -name '*.sources' \) -exec grep -hv '^#' {} + |
    grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 || true)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
    "${mirror:-http://deb.debian.org/debian} $suite main" >"$folder/sources.list"
  cat >"$folder/apt.conf" <<END
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$folder/lists";
Dir::Cache::archives "$folder/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "root";
Acquire::Languages "none";
END
  apt_view_get "$folder" update
}

apt_view_get() {
  timeout 900 apt-get -q -c "$1/apt.conf" "${@:2}"
}

apt_view_cache() {
  apt-cache -c "$1/apt.conf" "${@:2}"
}

# The folder of the cache with the newest kernel of a kind (uml, qemu) that was made from a suite of
# Debian and these files; makes one if there is none: cached_kernel KIND SUITE FILE...
cached_kernel() {
  local kind=$1 suite=$2 key
  key=$(cat "${@:3}" | sha256sum | cut -c1-12)
  [[ $suite == "$newest_suite" ]] || key+=-$suite
  newest_kernel "$kind" "$key" && return
  mkdir -p "$cache"
  # Whoever waits here for another's build finds it afterwards.
  (
    flock --nonblock 9 || { say "waiting for another build of the same kind" && flock 9; }
    newest_kernel "$kind" "$key" >/dev/null || "$testbed/$kind/build" "$key" "$suite" >&2
  ) 9>"$cache/$kind.lock"
  newest_kernel "$kind" "$key"
}

newest_kernel() {
  compgen -G "$cache/$1-*-$2" | sort -V | tail -n 1 | grep .
}

# For the build script of a kind of kernel: a folder to work in, a log for what only matters when something fails, and the
# result put into the cache as a whole or not at all.
start_build() {
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  build_log=$cache/$1-build.log
  : >"$build_log"
  cd "$work" || exit
}

logged() {
  "$@" >>"$build_log" 2>&1 </dev/null || {
    tail -n 30 "$build_log" >&2
    fail "$1 failed; all output is in $build_log"
  }
}

finish_build() {
  mkdir result
  mv "${@:2}" result
  mv result "$cache/$1"
}
