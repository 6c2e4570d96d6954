// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.SecretKey;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.jspecify.annotations.Nullable;

/**
 * Loads the {@link NodeReader} from the installation of the node daemon, in a class loader of its
 * own: the reader needs Spark's transport and a newer Netty than Hadoop has. Only classes of this
 * package, of Java and of slf4j are shared with the task. {@link RdmaShuffle} opens one for each
 * reduce task.
 */
final class InstalledReader {
  /** Prefix of all settings. */
  static final String PREFIX = "sluice.mapreduce.";

  /** Installation of the node daemon on every node, which has the reader. */
  static final String HOME = PREFIX + "home";

  /** Allows READs in place of an encrypted fetch. The reader documents it. */
  private static final String ALLOW_PLAINTEXT = PREFIX + "allowPlaintext";

  /** First version of Java on which the reader runs. */
  private static final int JAVA = 21;

  /**
   * Factories by their installations, guarded by itself. YARN runs one reduce task in a process.
   * Benchmarks and tests run several, which then load the classes once.
   */
  private static final Map<String, NodeReader.Factory> FACTORIES = new HashMap<>();

  private InstalledReader() {}

  /**
   * Returns a reader that is being opened, for a task that has all that it needs.
   *
   * @param secret the secret by which the job fetches map outputs; null if it has none
   * @throws NodeReadException if there is no reader for this task, with the reason
   */
  static NodeReader open(Configuration conf, TaskAttemptID reduce, @Nullable SecretKey secret)
      throws NodeReadException {
    int java = javaVersion(System.getProperty("java.specification.version", ""));
    if (java < JAVA) {
      throw new NodeReadException(
          HttpReason.JAVA,
          "the reduce task runs on Java "
              + java
              + "; READs need Java 21 or newer (mapreduce.reduce.env.JAVA_HOME)",
          null);
    }
    if (conf.getBoolean(MRConfig.SHUFFLE_SSL_ENABLED_KEY, MRConfig.SHUFFLE_SSL_ENABLED_DEFAULT)
        && !conf.getBoolean(ALLOW_PLAINTEXT, false)) {
      throw new NodeReadException(
          HttpReason.WIRE_ENCRYPTION,
          MRConfig.SHUFFLE_SSL_ENABLED_KEY
              + " is set, and READs are not encrypted. If the network between the nodes can be"
              + " trusted, set "
              + ALLOW_PLAINTEXT
              + "=true to READ anyway",
          null);
    }
    if (secret == null) {
      throw new NodeReadException(HttpReason.OFF, "the job has no secret for its shuffle", null);
    }
    Map<String, String> settings = settings(conf);
    String home = settings.remove(HOME); // A reader of an older release refuses it.
    if (home == null) {
      throw new NodeReadException(HttpReason.OFF, HOME + " is not set", null);
    }
    File jars = new File(home, "jars");
    if (!jars.isDirectory()) {
      throw notListed(jars, null);
    }
    String job = MapIds.jobName(reduce.getJobID());
    String text =
        new String(Base64.getEncoder().encode(secret.getEncoded()), StandardCharsets.US_ASCII);
    return new OpeningReader(() -> open(home, job, text, reduce, settings));
  }

  private static NodeReader open(
      String home, String job, String secret, TaskAttemptID reduce, Map<String, String> settings)
      throws NodeReadException {
    try {
      return factory(home)
          .open(job, secret, reduce.toString(), reduce.getTaskID().getId(), settings);
    } catch (RuntimeException | LinkageError | ServiceConfigurationError e) {
      throw new NodeReadException(HttpReason.OFF, String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * Returns the factory of an installation. Its classes stay loaded for the life of the process.
   */
  private static NodeReader.Factory factory(String home) throws NodeReadException {
    synchronized (FACTORIES) {
      NodeReader.Factory factory = FACTORIES.get(home);
      if (factory == null) {
        factory = load(home);
        FACTORIES.put(home, factory);
      }
      return factory;
    }
  }

  private static NodeReader.Factory load(String home) throws NodeReadException {
    ReaderLoader loader = new ReaderLoader(jars(home));
    boolean loaded = false;
    try {
      Iterator<NodeReader.Factory> found =
          ServiceLoader.load(NodeReader.Factory.class, loader).iterator();
      if (!found.hasNext()) {
        throw new NodeReadException(
            HttpReason.OFF, home + "/jars has no sluice-mapreduce-reader jar (" + HOME + ")", null);
      }
      NodeReader.Factory factory = found.next();
      loaded = true;
      return factory;
    } finally {
      if (!loaded) {
        loader.closeQuietly();
      }
    }
  }

  /** Number of a version of Java: 8 for 1.8. */
  static int javaVersion(String specification) {
    String number =
        specification.startsWith("1.") ? specification.substring("1.".length()) : specification;
    return number.isEmpty() ? 0 : Integer.parseInt(number);
  }

  private static Map<String, String> settings(Configuration conf) {
    Map<String, String> settings = new HashMap<>();
    for (Map.Entry<String, String> entry : conf) {
      if (entry.getKey().startsWith(PREFIX)) {
        settings.put(entry.getKey(), conf.getTrimmed(entry.getKey()));
      }
    }
    return settings;
  }

  private static NodeReadException notListed(File jars, @Nullable IOException cause) {
    return new NodeReadException(
        HttpReason.OFF, jars + " cannot be listed on this node (" + HOME + ")", cause);
  }

  /**
   * Returns the jars of an installation by paths without links. A link may be changed for an
   * upgrade while the task runs, and all classes have to be of one release.
   */
  static URL[] jars(String home) throws NodeReadException {
    File jars = new File(home, "jars");
    try {
      File[] files = jars.getCanonicalFile().listFiles((folder, name) -> name.endsWith(".jar"));
      URL[] urls = new URL[files == null ? 0 : files.length];
      for (int i = 0; i < urls.length; i++) {
        urls[i] = files[i].toURI().toURL();
      }
      return urls;
    } catch (IOException e) {
      throw notListed(jars, e);
    }
  }

  /** Prefers the classes of the installation to those of the task. */
  private static final class ReaderLoader extends URLClassLoader {
    static {
      registerAsParallelCapable();
    }

    private static final ClassLoader JAVA_CLASSES = ClassLoader.getSystemClassLoader().getParent();

    /**
     * Names that no class has. Authentication looks for a class of another provider on each of its
     * threads, and each search goes through all jars.
     */
    private final Set<String> missing = ConcurrentHashMap.newKeySet();

    ReaderLoader(URL[] urls) {
      super(urls, RdmaShuffle.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (isShared(name)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        if (loaded != null) {
          return loaded;
        }
        if (missing.contains(name)) {
          throw new ClassNotFoundException(name);
        }
        return isOfJava(name) ? javaFirst(name) : ownFirst(name);
      }
    }

    private Class<?> javaFirst(String name) throws ClassNotFoundException {
      try {
        return JAVA_CLASSES.loadClass(name);
      } catch (ClassNotFoundException e) {
        return findClass(name);
      }
    }

    private Class<?> ownFirst(String name) throws ClassNotFoundException {
      try {
        return findClass(name);
      } catch (ClassNotFoundException e) { // a class of Java, or none
        return ofJava(name);
      }
    }

    private Class<?> ofJava(String name) throws ClassNotFoundException {
      try {
        return JAVA_CLASSES.loadClass(name);
      } catch (ClassNotFoundException e) {
        missing.add(name);
        throw e;
      }
    }

    /** Services come from the installation alone, as classes do. */
    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
      return findResources(name);
    }

    /** Classes with these names are mostly Java's own: all jars would be searched in vain. */
    private static boolean isOfJava(String name) {
      return name.startsWith("javax.") || name.startsWith("sun.") || name.startsWith("jdk.");
    }

    private static boolean isShared(String name) {
      return name.startsWith("java.")
          || name.startsWith("org.slf4j.")
          || name.startsWith("dev.sluice.mapreduce.")
              && !name.startsWith("dev.sluice.mapreduce.reader.");
    }

    void closeQuietly() {
      try {
        close();
      } catch (IOException e) {
        throw new UncheckedIOException(e); // only its own jar files are closed
      }
    }
  }
}
