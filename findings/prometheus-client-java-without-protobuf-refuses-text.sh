#!/usr/bin/env bash
# Prometheus client_java 1.5.0: without its protobuf formats, the exporter refuses scrapers that also take text.
#
# prometheus-metrics-exporter-httpserver needs prometheus-metrics-exposition-formats (2.1 MB, with protobuf) at run time
# only, so class paths that are made of Maven's compile scope lack it. The text formats are in another jar, and most
# scrapes then work. A Prometheus server that collects native histograms names three formats in its header Accept:
# protobuf, OpenMetrics and text. The exporter takes the first of these for its answer without asking whether it is
# there (PrometheusProtobufWriter.accepts; isAvailable would tell), and answers each scrape with status 500.
#
# Seen: 200 for a header with text alone, 500 with "Prometheus protobuf writer not available" for the header of such a
# server. This script starts the exporter without that jar, and fails if that changes.
set -euo pipefail

version=1.5.0
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
      <groupId>io.prometheus</groupId>
      <artifactId>prometheus-metrics-core</artifactId>
      <version>$version</version>
    </dependency>
    <dependency>
      <groupId>io.prometheus</groupId>
      <artifactId>prometheus-metrics-exporter-httpserver</artifactId>
      <version>$version</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies \
  -DincludeScope=compile -DoutputDirectory=lib >maven.log 2>&1 || { cat maven.log; exit 1; }

cat >Finding.java <<'JAVA'
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.exporter.httpserver.HTTPServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

public class Finding {
  public static void main(String[] arguments) throws Exception {
    Counter.builder().name("requests").help("Requests.").register().inc();
    try (HTTPServer server = HTTPServer.builder().port(0).buildAndStart();
        HttpClient client = HttpClient.newHttpClient()) {
      String text = "text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
      String protobuf =
          "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,"
              + "application/openmetrics-text;version=1.0.0;q=0.5," + text;
      for (String accept : new String[] {text, protobuf}) {
        var answer =
            client.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + server.getPort() + "/metrics"))
                    .header("Accept", accept)
                    .build(),
                BodyHandlers.ofString());
        boolean refused = answer.body().contains("Prometheus protobuf writer not available");
        System.out.println(answer.statusCode() + (refused ? " protobuf writer not available" : ""));
      }
    }
  }
}
JAVA
java=java
[[ -z ${JAVA_HOME:-} ]] || java=$JAVA_HOME/bin/java
"$java" -cp "lib/*" Finding.java | tee seen
diff - seen <<'EXPECTED' && echo "as expected: client_java $version"
200
500 protobuf writer not available
EXPECTED
