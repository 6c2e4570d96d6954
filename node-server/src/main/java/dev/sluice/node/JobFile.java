// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.node.StateFile.ApplicationState;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * File by which a service of YARN's NodeManager ({@code yarn-service}) tells the daemon of a
 * MapReduce job: {@code job} in a folder with the job's name. The service makes it before the job's
 * first task, and replaces it as a whole. {@link NodeJobs} reads it on threads that may wait for a
 * disk. A NodeManager may have another release of the service: these names stay.
 */
final class JobFile {
  private static final Logger LOG = LoggerFactory.getLogger(JobFile.class);

  private static final String FILE = "job";
  private static final String SECRET = "secret";
  private static final String USER = "user";
  private static final String CHECK_OWNER = "checkOwner";

  /** End of a job's name, after its application id. */
  private static final String SUFFIX = "-mapreduce";

  private static final String NAME = "application_\\d+_\\d+" + SUFFIX;

  private JobFile() {}

  /**
   * A MapReduce job.
   *
   * @param user owner of its containers, in the name of whose folder its map outputs lie
   * @param checkOwner true if only files of that user are map outputs
   */
  record MapReduceJob(String user, boolean checkOwner) {
    /** Returns the folder in one of YARN's local directories in which the user may change all. */
    Path ofUser(Path directory) {
      return directory.resolve("usercache").resolve(user);
    }

    /** Returns the folder of the job's files in one of YARN's local directories. */
    Path folder(Path directory, String name) {
      return ofUser(directory)
          .resolve("appcache")
          .resolve(name.substring(0, name.length() - SUFFIX.length()));
    }
  }

  /** Returns true for a job's name, and for no name of Spark's applications. */
  static boolean isName(String application) {
    return application.matches(NAME);
  }

  /** Returns true if the folder is the one of a job. */
  static boolean isIn(Path folder) {
    return isName(folder.getFileName().toString()) && Files.exists(folder.resolve(FILE));
  }

  /** Reads the state of a job that is not served yet; null if there is none, or it is damaged. */
  static @Nullable ApplicationState read(Path folder) throws IOException {
    String name = folder.getFileName().toString();
    if (!isIn(folder)) {
      return null;
    }
    Properties file = new Properties();
    try (Reader reader = Files.newBufferedReader(folder.resolve(FILE))) {
      file.load(reader);
    } catch (CharacterCodingException | IllegalArgumentException e) {
      LOG.debug("The file of a job in {} cannot be parsed", folder, e);
    }
    String secret = file.getProperty(SECRET, "");
    String user = file.getProperty(USER, "");
    if (secret.isEmpty() || user.isEmpty() || user.startsWith(".") || user.contains("/")) {
      LOG.warn("The file of a job in {} is damaged; the job is not served", folder);
      return null;
    }
    boolean checkOwner = Boolean.parseBoolean(file.getProperty(CHECK_OWNER, "true"));
    return ApplicationState.first(name, secret, new MapReduceJob(user, checkOwner));
  }
}
