// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.kubernetes;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.TemplateCommand;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The chart in {@code conf/helm/sluice-node} with some values, rendered by Helm's own engine. No
 * cluster is asked.
 */
final class Chart {
  static final Path DIRECTORY = Path.of("../conf/helm/sluice-node").toAbsolutePath().normalize();
  static final Path EXAMPLES = DIRECTORY.resolve("examples");

  private static final Pattern SOURCE =
      Pattern.compile("(?m)^---\n# Source: sluice-node/templates/(.+)\n");

  /**
   * Part of the rendering.
   *
   * @param template name of the file that it comes from
   */
  private record Document(String template, String text) {}

  private final List<Document> documents;
  private final List<HasMetadata> objects = new ArrayList<>();

  private Chart(List<Document> documents) throws IOException {
    this.documents = documents;
    for (Document document : documents) {
      objects.add(Manifests.object(document.text()));
    }
  }

  /**
   * Renders the release "sluice-node".
   *
   * @throws IllegalStateException if the chart or its schema refuses the values
   */
  static Chart render(Path... values) throws IOException {
    TemplateCommand command = new Helm(DIRECTORY).template().withName("sluice-node");
    for (Path file : values) {
      command.withValuesFile(file);
    }
    String rendered = command.call();
    List<Document> documents = new ArrayList<>();
    Matcher matcher = SOURCE.matcher(rendered);
    List<MatchResult> sources = matcher.results().toList();
    for (int i = 0; i < sources.size(); i++) {
      int end = i + 1 < sources.size() ? sources.get(i + 1).start() : rendered.length();
      documents.add(
          new Document(sources.get(i).group(1), rendered.substring(sources.get(i).end(), end)));
    }
    return new Chart(documents);
  }

  /** Returns the documents of some templates as one file, in Helm's order. */
  String file(List<String> templates) {
    return String.join(
        "---\n",
        documents.stream()
            .filter(document -> templates.contains(document.template()))
            .map(Document::text)
            .toList());
  }

  List<HasMetadata> objects() {
    return objects;
  }

  /** Returns the only object of a type. */
  <T> T the(Class<T> type) {
    List<T> found = objects.stream().filter(type::isInstance).map(type::cast).toList();
    if (found.size() != 1) {
      throw new IllegalStateException("%d of %s in %s".formatted(found.size(), type, objects));
    }
    return found.getFirst();
  }

  PodTemplateSpec pod() {
    return the(DaemonSet.class).getSpec().getTemplate();
  }

  Container daemon() {
    return pod().getSpec().getContainers().getFirst();
  }

  Map<String, String> settings() throws IOException {
    return Manifests.properties(the(ConfigMap.class).getData().get("sluice-node.conf"));
  }
}
