// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.kubernetes;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * Reads {@code conf/kubernetes} as strictly as the API server does with {@code
 * fieldValidation=Strict}: a field that the API does not have, or of another type, is an error.
 */
final class Manifests {
  static final Path DIRECTORY = Path.of("../conf/kubernetes").toAbsolutePath().normalize();

  private static final ObjectMapper STRICT =
      new ObjectMapper(new YAMLFactory())
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
          .setAnnotationIntrospector(new NothingBeside());

  private Manifests() {}

  /** The types of the API's model keep fields that they do not know. */
  private static final class NothingBeside extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1L;

    @Override
    public Boolean hasAnySetter(Annotated annotated) {
      return false;
    }
  }

  static <T> T read(String file, Class<T> type) throws IOException {
    return parse(Files.readString(DIRECTORY.resolve(file)), type);
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
