# Functions of the commands in this folder: find a JDK and Maven, build missing jars, and start Java
# programs of the modules chaos and benchmarks. Sourced, not started.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# What the commands need: to build, this JDK with its compiler. An installed daemon needs less.
java_release=25 java_programs=(java javac)
jvm_folder=/usr/lib/jvm

# Enough for Hadoop's TeraGen and TeraValidate with an input of any size.
terasort_heap=-Xmx256m

die() {
  printf '%s\n' "$*" >&2
  exit 1
}

# Prints the first value of an element of a POM: the version of the project, or a property.
#   pom_value FILE ELEMENT
pom_value() {
  sed -nE "/^ *<$2>/{s:^ *<$2>(.*)</$2>.*:\\1:p;q}" "$1"
}

# Prints the columns of the terminal that a file descriptor is; nothing if it is a file or a pipe.
#   terminal_columns DESCRIPTOR
terminal_columns() {
  local columns=''
  [[ -t $1 && ${TERM:-dumb} != dumb ]] || return 0
  read -r _ columns < <(stty size <&"$1" 2>/dev/null) || true
  ((columns > 0)) || columns=80 # the terminal does not know its size
  printf '%s\n' "$columns"
}

# Makes git accept a repository of another user, as a clone that a container mounts may be. Git then ignores the
# user's and the machine's settings. An option -c does not do: git does not take safe.directory from one.
#   trust_repository FOLDER   gets a file of settings
trust_repository() {
  printf '[safe]\n\tdirectory = *\n' >"$1/gitconfig"
  export GIT_CONFIG_GLOBAL=$1/gitconfig GIT_CONFIG_NOSYSTEM=1
}

# Ends a command with status 2 because its arguments are wrong.
misused() {
  printf '%s; see --help\n' "$*" >&2
  exit 2
}

# Prints the label of an option's value in a help text: in [] if the value may be omitted, nothing if
# the option takes no value. Fails if there is no such option.
#   option_label FILE OPTION
option_label() {
  local line
  while IFS= read -r line; do
    if [[ $line =~ ^\ +(-[a-zA-Z],\ )?$2(\[?)(=([^ ]+))?(\ |$) ||
      $line =~ ^\ +($2),\ --[a-z0-9-]+(\[?)(=([^ ]+))?(\ |$) ]]; then
      printf '%s%s\n' "${BASH_REMATCH[2]}" "${BASH_REMATCH[4]}"
      return
    fi
  done <"$1"
  return 1
}

# Prints the words that a help text allows for a label: the lines after "LABEL is one of:".
allowed_words() {
  sed -n "/^$2 is one of:\$/,/^\$/s/^  //p" "$1"
}

# Ends the command if a value does not fit its label. The Java program would refuse it, too.
#   check_value FILE COMMAND OPTION LABEL VALUE
check_value() {
  local label=${4#[[]} words word wanted=''
  label=${label%%[][]*}
  words=$(allowed_words "$1" "$label")
  case $label in
    N) [[ $5 =~ ^0*[1-9][0-9]*$ ]] || wanted='a whole number from 1' ;;
    NUMBER) [[ $5 =~ ^[0-9]+$ ]] || wanted='a whole number' ;;
    SIZE) [[ ${5,,} =~ ^0*[1-9][0-9]{0,8}[kmgt]?b?$ ]] || wanted='a size such as 64m or 1g' ;;
    KEY=VALUE) [[ $5 == ?*=* ]] || wanted='KEY=VALUE' ;;
    *'|'*) [[ "|$label|" == *"|$5|"* && $5 != *'|'* ]] || wanted="one of ${label//|/, }" ;;
    *)
      for word in ${words:+${5//,/ }}; do
        grep -qxF -- "$word" <<<"$words" || misused "$2: $3: unknown ${label,,} '$word'"
      done
      ;;
  esac
  [[ ! $wanted ]] || misused "$2: $3 is $5, but must be $wanted"
}

# Shows the help of a command, or ends the command if an option is unknown or a value is wrong. Uses
# the text in bin/help, which a test compares with the program. If that text is not installed, the
# program itself does this.
#   check_arguments NAME [ARGUMENT...]
check_arguments() {
  local file=$root/bin/help/$1.txt command="bin/${1/-/ }" option label
  [[ $1 != sluice-node ]] || command=bin/sluice-node
  [[ -f $file ]] || return 0
  shift
  for option in "$@"; do
    [[ $option != --help && $option != -h ]] || { cat "$file" && exit; }
  done
  while (($#)); do
    option=${1%%=*}
    if [[ $option != -* || $option == -[!-]?* ]]; then # no option, or a short one with its value
      shift
      continue
    fi
    label=$(option_label "$file" "$option") || misused "$command: unknown option $option"
    if [[ ! $label ]]; then
      [[ $1 != *=* ]] || misused "$command: $option takes no value"
    elif [[ $1 == *=* ]]; then
      check_value "$file" "$command" "$option" "$label" "${1#*=}"
    else
      if [[ $label == '['* && ${2:--} == -* ]]; then
        shift
        continue
      fi
      [[ -n ${2:-} && $2 != --* ]] || misused "$command: $option needs ${label%%[[]*}"
      check_value "$file" "$command" "$option" "$label" "$2"
      shift
    fi
    shift
  done
}

# Checks a command with subcommands, as check_arguments does. The first argument is the subcommand.
#   check_subcommand NAME [ARGUMENT...]
check_subcommand() {
  local name=$1 subcommand=${2:-}
  shift
  [[ -f $root/bin/help/$name.txt ]] || return 0
  [[ $subcommand ]] || misused "bin/$name: the command is missing"
  if [[ $subcommand == -* ]]; then
    check_arguments "$name" "$@"
    return
  fi
  [[ -f $root/bin/help/$name-$subcommand.txt ]] || misused "bin/$name: unknown command $subcommand"
  check_arguments "$name-$subcommand" "${@:2}"
}

# Exports SLUICE_DATA, the folder for inputs and for output of runs, and creates it.
find_data() {
  export SLUICE_DATA=${SLUICE_DATA:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/sluice}
  [[ $SLUICE_DATA == /* ]] || SLUICE_DATA=$PWD/$SLUICE_DATA
  { mkdir -p "$SLUICE_DATA" && [[ -w $SLUICE_DATA ]]; } 2>/dev/null ||
    die "$SLUICE_DATA cannot be written to; set SLUICE_DATA to a folder for inputs, results and logs"
}

# Prints the version of the JDK in a folder, such as 25.0.3; nothing if there is none or it is too old.
suitable_jdk() {
  local version program
  for program in "${java_programs[@]}"; do
    [[ -x $1/bin/$program ]] || return 0
  done
  version=$("$1/bin/java" -XshowSettings:properties -version 2>&1 |
    sed -n 's/^ *java\.version = \([0-9][0-9.]*\)/\1/p')
  if [[ -n $version ]] && ((${version%%[!0-9]*} >= java_release)); then
    printf '%s\n' "$version"
  fi
}

# Exports JAVA_HOME. Keeps it if it is a JDK of the required release or newer. Otherwise chooses the
# newest JDK, because updates fix bugs that corrupt data.
find_jdk() {
  local candidate version java_on_path newest='' found=''
  # An empty name would mean /bin/java.
  if [[ -n ${JAVA_HOME:-} && -n $(suitable_jdk "$JAVA_HOME") ]]; then
    export JAVA_HOME
    return
  fi
  local candidates=("$jvm_folder"/* "${HOME:-}"/.sdkman/candidates/java/*)
  if java_on_path=$(command -v java); then
    candidates+=("$(dirname "$(dirname "$(readlink -f "$java_on_path")")")")
  fi
  for candidate in "${candidates[@]}"; do
    # sort puts 26~ea before 26.
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

# True if a jar of the modules is missing, or their sources are newer than the last build's stamp.
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

# Builds the jars of a module and of the modules that it uses, unless they are up to date.
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

# Prints the jar of a module, <name>-<version>.jar. Ignores jars with a suffix such as -sources.
module_jar() {
  local jars
  jars=$(compgen -G "$root/$1/target/$2-[0-9]*.jar" | grep -vE -- '-(tests|sources|javadoc)\.jar$') ||
    die "there is no $1/target/$2-*.jar"
  head -n 1 <<<"$jars"
}

# Prints the class path of the command-line tools.
tools_classpath() {
  local jars
  jars=$(module_jar verbs-tools sluice-verbs-tools):$(module_jar examples/verbs sluice-examples):$(module_jar verbs sluice-verbs)
  echo "$jars:$root/verbs-tools/target/lib/*"
}

# True in the installation of a release, which has jars and builds none. Finds a JRE for it.
installed() {
  [[ -d $root/jars ]] || return
  java_release=21 java_programs=(java)
  find_jdk
}

# Creates a folder with links to the jars of another Spark version, and to the other jars that a
# module needs. Hadoop's jars are newer than Spark's own, as users on JDK 25 must replace them.
#   link_spark VERSION MODULE FOLDER
link_spark() {
  local list=$root/spark-tests/target/spark-$1/spark-class-path.txt log=$root/target/spark-$1.log jar name jars
  find_maven
  mkdir -p "$root/target"
  echo "downloading Spark $1 (log: $log)" >&2
  (cd "$root" && mvn -B -ntp -DskipTests -Dspotless.check.skip "-Pspark-$1" -pl spark-tests -am package) >"$log" 2>&1 ||
    die "downloading Spark $1 failed; all of Maven's output is in $log"
  rm -rf "$3" "$3.new" && mkdir -p "$3.new"
  mapfile -t jars < <(tr : '\n' <"$list")
  ln -s "${jars[@]}" "$3.new"
  for jar in "$root/$2"/target/spark/jars/*.jar; do
    name=${jar##*/}
    # Skip Spark's own jars: the folder has those of its version, and others do not fit.
    [[ $name == spark-* || -n $(compgen -G "$3.new/${name%-[0-9]*}-[0-9]*.jar") ]] || ln -s "$jar" "$3.new"
  done
  mv "$3.new" "$3"
}

# Builds missing jars of a module, and exports the places of its jar, of Spark's jars and of Sluice's.
#   prepare_program MODULE [SPARK]   SPARK is the version of the jars, if it is not the one of the modules
prepare_program() {
  local module=$1 spark=${2:-4.2} target=$root/$1/target
  local used=(testkit shuffle-manager doctor node-server block-server rdma-net verbs)
  find_data
  [[ $module != benchmarks ]] || used+=(verbs-tools examples/verbs yarn-service mapreduce mapreduce-reader)
  build_jars "$module" "${used[@]}"
  export SLUICE_SPARK_JARS=$target/spark/jars
  if [[ $spark != 4.2 ]]; then # the modules are built for 4.2
    SLUICE_SPARK_JARS=$target/spark-$spark/jars
    [[ $SLUICE_SPARK_JARS -nt $root/spark-tests/pom.xml && $SLUICE_SPARK_JARS -nt $root/bin/lib.sh ]] ||
      link_spark "$spark" "$module" "$SLUICE_SPARK_JARS"
  fi
  export SLUICE_HOME=$root
  export SLUICE_JAR SLUICE_NODE_JAR SLUICE_PROGRAM_JAR
  SLUICE_JAR=$(module_jar shuffle-manager sluice-spark)
  SLUICE_NODE_JAR=$(module_jar node-server sluice-node-server)
  SLUICE_PROGRAM_JAR=$(module_jar "$module" "sluice-$module")
  if [[ $module == benchmarks ]]; then # some of them run bin/verbs
    export SLUICE_TOOLS_CLASSPATH
    SLUICE_TOOLS_CLASSPATH=$(tools_classpath)
  fi
}

# Replaces this process by a main class of a module. With --spark or --java among the arguments,
# drivers, executors and the main class itself run on that Spark version and that JDK.
#   exec_program MODULE HEAP CLASS [ARGUMENT...]   HEAP is the JVM's option, or empty
exec_program() {
  local module=$1 heap=$2 spark='' java='' argument previous=''
  shift 2
  for argument in "$@"; do
    [[ $argument != --spark=* ]] || spark=${argument#*=}
    [[ $previous != --spark ]] || spark=$argument
    [[ $argument != --java=* ]] || java=${argument#*=}
    [[ $previous != --java ]] || java=$argument
    previous=$argument
  done
  prepare_program "$module" "$spark"
  local columns program_home=$JAVA_HOME
  columns=$(terminal_columns 2)
  if [[ $java ]]; then
    program_home=$("$root/testbed/jdk" "$java")
  fi
  exec "$program_home/bin/java" -XX:+UseSerialGC ${heap:+"$heap"} \
    -XX:+IgnoreUnrecognizedVMOptions --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
    -Dsluice.log="$SLUICE_DATA/${1##*.}.log" ${columns:+-Dsluice.terminal.columns="$columns"} \
    -cp "$SLUICE_PROGRAM_JAR:$SLUICE_JAR:$SLUICE_SPARK_JARS/*" "$@"
}
