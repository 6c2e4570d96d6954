// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.kubernetes;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * Reads objects of {@code conf/kubernetes} and of the chart as strictly as the API server does with
 * {@code fieldValidation=Strict}: a field that the API does not have, or of another type, is an
 * error.
 */
final class Manifests {
  static final Path DIRECTORY = Path.of("../conf/kubernetes").toAbsolutePath().normalize();

  private static final ObjectMapper STRICT =
      new ObjectMapper(new YAMLFactory())
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
          .setAnnotationIntrospector(new NothingBeside());

  private static final String SEPARATOR = "(?m)^---\\n";
  private static final List<Class<? extends HasMetadata>> TYPES =
      List.of(
          ConfigMap.class,
          DaemonSet.class,
          NetworkPolicy.class,
          Pod.class,
          ResourceClaimTemplate.class,
          Service.class,
          ServiceAccount.class,
          ServiceMonitor.class);

  private Manifests() {}

  /** The types of the API's model keep fields that they do not know. */
  private static final class NothingBeside extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1L;

    @Override
    public Boolean hasAnySetter(Annotated annotated) {
      return false;
    }
  }

  /** Reads the only object of a type in a file. */
  static <T extends HasMetadata> T read(String file, Class<T> type) throws IOException {
    List<T> found = new ArrayList<>();
    for (String document : Files.readString(DIRECTORY.resolve(file)).split(SEPARATOR)) {
      HasMetadata object = object(document);
      if (type.isInstance(object)) {
        found.add(type.cast(object));
      }
    }
    if (found.size() != 1) {
      throw new IOException("%s has %d of %s".formatted(file, found.size(), type));
    }
    return found.getFirst();
  }

  /** Reads an object of any of the types that the chart and the manifests have. */
  static HasMetadata object(String yaml) throws IOException {
    String kind = STRICT.readTree(yaml).path("kind").asText();
    for (Class<? extends HasMetadata> type : TYPES) {
      if (HasMetadata.getKind(type).equals(kind)) {
        HasMetadata object = parse(yaml, type);
        if (!HasMetadata.getApiVersion(type).equals(object.getApiVersion())) {
          throw new IOException("%s is not of %s".formatted(kind, object.getApiVersion()));
        }
        return object;
      }
    }
    throw new IOException("unknown kind " + kind);
  }

  static <T> T parse(String yaml, Class<T> type) throws IOException {
    return STRICT.readValue(yaml, type);
  }

  /** Lines of a key and a value, as Spark and the block server read them. */
  static Map<String, String> properties(String text) throws IOException {
    Properties properties = new Properties();
    try (Reader reader = new StringReader(text)) {
      properties.load(reader);
    }
    Map<String, String> values = new TreeMap<>();
    properties.stringPropertyNames().forEach(key -> values.put(key, properties.getProperty(key)));
    return values;
  }
}
