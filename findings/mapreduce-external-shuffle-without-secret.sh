#!/usr/bin/env bash
# Hadoop MapReduce 3.5.0: a service of mapreduce.job.shuffle.provider.services gets no secret.
#
# Hadoop documents the key as a list of auxiliary services that "can serve shuffle requests from reducetasks", beside
# the built-in ShuffleHandler (MRJobConfig). For each container, the application master puts an entry into the launch
# context for every such service. The entry of mapreduce_shuffle has the job's token, whose password authenticates
# reduce tasks. The entry of every other service is an empty buffer. Its initializeApplication therefore learns the
# user and the application, but nothing by which it could tell a reduce task of the job from a stranger.
#
# Seen: the launch context has 60 to 90 bytes for mapreduce_shuffle and 0 bytes for the other service.
# This script asks Hadoop's own TaskAttemptImpl for a launch context, and fails if that changes.
set -euo pipefail

version=3.5.0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId>
  <artifactId>finding</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.hadoop</groupId>
      <artifactId>hadoop-mapreduce-client-app</artifactId>
      <version>$version</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies \
  -DincludeScope=runtime -DoutputDirectory=lib >maven.log 2>&1 || { cat maven.log; exit 1; }

cat >Finding.java <<'JAVA'
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapreduce.security.TokenCache;
import org.apache.hadoop.mapreduce.security.token.JobTokenIdentifier;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;

public class Finding {
  public static void main(String[] arguments) throws Exception {
    JobID job = new JobID("1700000000000", 1);
    Path staging = Path.of(arguments[0]).toAbsolutePath();
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    Path folder = Files.createDirectories(staging.resolve(user + "/.staging/" + job));
    Files.writeString(folder.resolve("job.xml"), "<configuration/>");

    JobConf conf = new JobConf();
    conf.set("fs.defaultFS", "file:///");
    conf.set("yarn.app.mapreduce.am.staging-dir", staging.toString());
    conf.set("yarn.nodemanager.aux-services", "mapreduce_shuffle,another_shuffle");
    conf.set("mapreduce.job.shuffle.provider.services", "another_shuffle");

    Token<JobTokenIdentifier> token =
        new Token<>(
            new JobTokenIdentifier(new Text(job.toString())).getBytes(),
            "password of the job".getBytes(),
            JobTokenIdentifier.KIND_NAME,
            new Text(job.toString()));
    Credentials credentials = new Credentials();
    TokenCache.setJobToken(token, credentials);
    TokenCache.setShuffleSecretKey("secret of the shuffle".getBytes(), credentials);

    Class<?> attempts = Class.forName("org.apache.hadoop.mapreduce.v2.app.job.impl.TaskAttemptImpl");
    for (Method method : attempts.getDeclaredMethods()) {
      if (method.getName().equals("createCommonContainerLaunchContext")) {
        method.setAccessible(true);
        ContainerLaunchContext context =
            (ContainerLaunchContext) method.invoke(null, Map.of(), conf, token, job, credentials);
        for (Map.Entry<String, ByteBuffer> each : context.getServiceData().entrySet()) {
          System.out.println(each.getKey() + " " + each.getValue().remaining());
        }
      }
    }
  }
}
JAVA
java -cp "lib/*" Finding.java staging 2>java.log >seen || { cat java.log; exit 1; }
echo "Hadoop $version, bytes for each service:"
cat seen
[[ $(awk '$1 == "mapreduce_shuffle" { print ($2 > 0) }' seen) == 1 ]] || { echo "mapreduce_shuffle gets no token"; exit 1; }
[[ $(awk '$1 == "another_shuffle" { print $2 }' seen) == 0 ]] || { echo "another_shuffle gets data now"; exit 1; }
