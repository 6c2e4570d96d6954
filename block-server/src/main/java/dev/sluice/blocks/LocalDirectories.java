package dev.sluice.blocks;

import dev.sluice.rdma.ProtectionDomain;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The directories that this process's map outputs lie in, each with the form in which they are
 * registered there. Whoever starts the process's parts makes it, before any map output is
 * registered; any thread reads it; it owns nothing.
 */
public final class LocalDirectories {
  /**
   * Where the files of a map output lie.
   *
   * @param data which of the directories the data file lies in, as {@link #indexOf}
   * @param table a number for those that the files of its table lie in, of which Spark chooses one
   *     for each file: below the square of how many there are, and one more for what lies in none
   */
  public record Disks(int data, int table) {}

  /** What names of files begin with that directories are tried out with. */
  public static final String PROBE = "sluice-probe-";

  private final List<LocalDirectory> directories;

  private LocalDirectories(List<LocalDirectory> directories) {
    this.directories = List.copyOf(directories);
  }

  LocalDirectories(Map<Path, RegistrationForm> forms) {
    this(
        forms.entrySet().stream()
            .map(entry -> new LocalDirectory(entry.getKey(), entry.getValue()))
            .toList());
  }

  /** Directories in which nothing is to be registered. */
  public static LocalDirectories unregistered(Collection<Path> directories) {
    return new LocalDirectories(
        directories.stream().map(directory -> new LocalDirectory(directory, null)).toList());
  }

  /**
   * Finds each directory's best form by trying it out there ({@link FormProbe}).
   *
   * @param domain what is registered in; what could not be tried out is so later
   * @throws RegistrationUnavailableException when a directory refuses all forms that the mode
   *     requires one of, with what was tried
   */
  public static LocalDirectories probe(
      ProtectionDomain domain, RegistrationMode mode, Collection<Path> directories)
      throws RegistrationUnavailableException {
    FormProbe probe = new FormProbe(domain, LoopbackRead::read);
    List<LocalDirectory> probed = new ArrayList<>();
    for (Path directory : directories) {
      probed.add(new LocalDirectory(directory, mode, probe));
    }
    return new LocalDirectories(probed);
  }

  /**
   * What became of a directory that was tried out.
   *
   * @param registers whether map outputs there are registered, or else staged
   * @param said the form, or why there is none, in words
   */
  public record Trial(boolean registers, String said) {}

  /**
   * Tries one directory out, for somebody who wants to know and registers nothing there.
   *
   * @throws RegistrationUnavailableException as {@link #probe}
   */
  public static Trial tryOut(ProtectionDomain domain, RegistrationMode mode, Path directory)
      throws RegistrationUnavailableException {
    StringBuilder said = new StringBuilder();
    FormProbe probe = new FormProbe(domain, LoopbackRead::read, said::append);
    boolean registers = probe.bestForm(mode, directory).form() != null;
    return new Trial(registers, said.toString());
  }

  /**
   * The form of a map output's data file.
   *
   * @throws InconsistentFilesException when it lies in none of the directories
   * @throws RegistrationUnavailableException when none works there, or nothing is to be registered
   *     anywhere
   */
  RegistrationForm form(Path file, long nowMs)
      throws InconsistentFilesException, RegistrationUnavailableException {
    if (directories.isEmpty()) {
      throw new RegistrationUnavailableException("no directory was tried out");
    }
    int index = indexOf(file);
    if (index == count()) {
      throw new InconsistentFilesException(
          file + " lies in none of " + directories.stream().map(LocalDirectory::path).toList());
    }
    return directories.get(index).form(nowMs);
  }

  public int count() {
    return directories.size();
  }

  /** Which of the directories a file lies in, from 0 on; {@link #count} for one elsewhere. */
  int indexOf(Path file) {
    int index = 0;
    while (index < directories.size() && !file.startsWith(directories.get(index).path())) {
      index++;
    }
    return index;
  }

  /** Which of them these files lie in, as {@link #indexOf}. */
  BitSet indexesOf(List<Path> files) {
    return files.stream().mapToInt(this::indexOf).collect(BitSet::new, BitSet::set, BitSet::or);
  }

  /** Numbers for where a map output's files lie, so that nobody compares paths to find them. */
  Disks disks(Path data, List<Path> table) {
    int first = table.isEmpty() ? count() : indexOf(table.getFirst());
    int last = table.isEmpty() ? count() : indexOf(table.getLast());
    return new Disks(indexOf(data), first * (count() + 1) + last);
  }

  boolean mayPageOnDemand() {
    return directories.stream().anyMatch(LocalDirectory::mayPageOnDemand);
  }

  void count(RegistryCounters counters) {
    directories.forEach(directory -> directory.countIn(counters));
  }
}
