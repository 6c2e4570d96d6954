// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.security.UserGroupInformation;

/** Submits a job as the user of its process, and checks that all map outputs were READ. */
public final class UserJob {
  private UserJob() {}

  /**
   * @param arguments the user's principal and keytab, used on a secure cluster; folder of the job's
   *     files, which does not exist; settings of the job, each as {@code key=value}
   */
  public static void main(String[] arguments) throws Exception {
    UserGroupInformation.loginUserFromKeytab(arguments[0], arguments[1]);
    Map<String, String> settings = new LinkedHashMap<>();
    for (String setting : List.of(arguments).subList(3, arguments.length)) {
      int end = setting.indexOf('=');
      settings.put(setting.substring(0, end), setting.substring(end + 1));
    }
    WordCounting words = new WordCounting(Path.of(arguments[2]), settings);
    words.check();
    words.checkThatAllWasRead();
  }
}
