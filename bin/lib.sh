# What the commands in this folder share: finds JDK 25 and Maven, builds what is missing, and starts
# Java programs of the benchmarks module. Sourced, not started.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
benchmarks_target=$root/benchmarks/target
java_release=25
jvm_folder=/usr/lib/jvm

die() {
  printf '%s\n' "$*" >&2
  exit 1
}

# The version of the JDK in a folder, as 25.0.3; nothing where there is none, or one that is too old.
suitable_jdk() {
  [[ -x $1/bin/java && -x $1/bin/javac ]] || return 0
  local version
  version=$("$1/bin/java" -XshowSettings:properties -version 2>&1 |
    sed -n 's/^ *java\.version = \([0-9][0-9.]*\)/\1/p')
  if [[ -n $version ]] && ((${version%%[!0-9]*} >= java_release)); then
    printf '%s\n' "$version"
  fi
}

# Sets and exports JAVA_HOME, where that is no JDK of the release that is needed, or newer: to the
# newest one, for updates mend what corrupts data.
find_jdk() {
  local candidate version java_on_path newest='' found=''
  # Not of an empty name, which would be /bin/java.
  if [[ -n ${JAVA_HOME:-} && -n $(suitable_jdk "$JAVA_HOME") ]]; then
    export JAVA_HOME
    return
  fi
  local candidates=("$jvm_folder"/* "$HOME"/.sdkman/candidates/java/*)
  if java_on_path=$(command -v java); then
    candidates+=("$(dirname "$(dirname "$(readlink -f "$java_on_path")")")")
  fi
  for candidate in "${candidates[@]}"; do
    # As sort sees it, 26~ea comes before 26.
    version=$(suitable_jdk "$candidate" | tr - '~')
    if [[ -n $version && $version != "$newest" ]] &&
      printf '%s\n' "$newest" "$version" | sort --check=quiet --version-sort; then
      newest=$version found=$candidate
    fi
  done
  if [[ -n $found ]]; then
    export JAVA_HOME=$found
    return
  fi
  die "Sluice needs a JDK $java_release or newer, and there is none in JAVA_HOME (${JAVA_HOME:-not set}),
/usr/lib/jvm, ~/.sdkman/candidates/java or on the PATH. Install one of:
  Debian, Ubuntu:  apt-get install openjdk-25-jdk-headless
  Fedora, RHEL:    dnf install java-25-openjdk-devel
  Temurin:         temurin-25-jdk from https://adoptium.net/installation/linux
  sdkman:          sdk install java 25-tem"
}

find_maven() {
  command -v mvn >/dev/null || die "Sluice is built with Maven 3.8 or newer, and mvn is not on the PATH. Install one of:
  Debian, Ubuntu:  apt-get install maven
  Fedora, RHEL:    dnf install maven
  sdkman:          sdk install maven"
}

# Whether a jar of modules is missing, or their sources are newer than the stamp of the last build.
#   outdated STAMP MODULE...
outdated() {
  local stamp=$1 module
  shift
  [[ -f $stamp ]] || return 0
  for module in "$@"; do
    [[ -n $(compgen -G "$root/$module/target/sluice-*.jar") ]] || return 0
  done
  cd "$root"
  [[ -n $(find pom.xml "${@/%//pom.xml}" "${@/%//src/main}" -newer "$stamp" -type f -print -quit) ]]
}

# Builds the jars of a module and of those that it uses, unless they are up to date.
#   build_jars MODULE USED...
build_jars() {
  find_jdk
  local target=$root/$1/target stamp=$root/$1/target/bin-build-stamp
  if ! (outdated "$stamp" "$@"); then
    return
  fi
  find_maven
  mkdir -p "$target"
  local log=$target/bin-build.log started
  started=$(mktemp)
  echo "building the jars (log: $log)" >&2
  (cd "$root" && mvn -B -ntp -Dstyle.color=never -DskipTests -pl "$1" -am package) >"$log" 2>&1 || {
    rm -f "$started"
    tail -n 30 "$log" >&2
    die "the build failed; all of its output is in $log"
  }
  mv "$started" "$stamp"
}

build_benchmarks() {
  build_jars benchmarks shuffle-manager block-server rdma-net
}

# The jar of a module: of <name>-<version>.jar, without the ones that only have a suffix.
module_jar() {
  local jars
  jars=$(compgen -G "$root/$1/target/$2-[0-9]*.jar" | grep -vE -- '-(tests|sources|javadoc)\.jar$') ||
    die "there is no $1/target/$2-*.jar"
  head -n 1 <<<"$jars"
}

# The class path of the command-line tools of rdma-net.
tools_classpath() {
  echo "$(module_jar rdma-net sluice-rdma-net):$root/rdma-net/target/lib/*"
}

# Replaces this process by the command-line tools of rdma-net.
exec_verbs() {
  build_jars rdma-net
  exec "$JAVA_HOME/bin/java" -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED \
    -cp "$(tools_classpath)" dev.sluice.rdma.tools.VerbsCommand "$@"
}

# Makes a folder with the jars of another Spark, with Hadoop's as its users replace them, and with what
# the benchmarks need beside.
#   link_spark VERSION FOLDER
link_spark() {
  local list=$root/spark-tests/target/spark-$1/spark-class-path.txt log=$root/target/spark-$1.log jar name jars
  find_maven
  mkdir -p "$root/target"
  echo "fetching Spark $1 (log: $log)" >&2
  (cd "$root" && mvn -B -ntp -DskipTests -Dspotless.check.skip "-Pspark-$1" -pl spark-tests -am package) >"$log" 2>&1 ||
    die "Spark $1 could not be fetched; all of Maven's output is in $log"
  rm -rf "$2" "$2.new" && mkdir -p "$2.new"
  mapfile -t jars < <(tr : '\n' <"$list")
  ln -s "${jars[@]}" "$2.new"
  for jar in "$benchmarks_target"/spark/jars/*.jar; do
    name=${jar##*/}
    # A version of Spark has all parts that it has: those of another one do not fit.
    [[ $name == spark-* || -n $(compgen -G "$2.new/${name%-[0-9]*}-[0-9]*.jar") ]] || ln -s "$jar" "$2.new"
  done
  mv "$2.new" "$2"
}

# Replaces this process by a main class of the benchmarks module. With --spark 4.0 or 4.1 among the
# arguments it runs, as drivers and executors do, on that Spark.
exec_benchmark() {
  local arguments=()
  build_benchmarks
  export SLUICE_SPARK_JARS=$benchmarks_target/spark/jars
  while (($#)); do
    if [[ $1 == --spark ]]; then
      [[ ${2:-} == 4.[01] ]] || die "--spark wants 4.0 or 4.1"
      SLUICE_SPARK_JARS=$benchmarks_target/spark-$2/jars
      [[ $SLUICE_SPARK_JARS -nt $root/spark-tests/pom.xml && $SLUICE_SPARK_JARS -nt $root/bin/lib.sh ]] ||
        link_spark "$2" "$SLUICE_SPARK_JARS"
      shift 2
    else
      arguments+=("$1")
      shift
    fi
  done
  set -- "${arguments[@]}"
  export SLUICE_HOME=$root
  export SLUICE_JAR SLUICE_BENCHMARKS_JAR SLUICE_TOOLS_CLASSPATH
  SLUICE_JAR=$(module_jar shuffle-manager sluice-spark)
  SLUICE_BENCHMARKS_JAR=$(module_jar benchmarks sluice-benchmarks)
  SLUICE_TOOLS_CLASSPATH=$(tools_classpath)
  export SLUICE_DATA=${SLUICE_DATA:-${XDG_CACHE_HOME:-$HOME/.cache}/sluice}
  mkdir -p "$SLUICE_DATA"
  exec "$JAVA_HOME/bin/java" -XX:+UseSerialGC \
    --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
    -Dsluice.log="$SLUICE_DATA/${1##*.}.log" \
    -cp "$SLUICE_BENCHMARKS_JAR:$SLUICE_JAR:$SLUICE_SPARK_JARS/*" "$@"
}
