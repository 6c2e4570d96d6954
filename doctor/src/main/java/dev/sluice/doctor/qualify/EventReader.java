// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Reads the files of an event log into an {@link Application}. Each line is an event, an object of
 * JSON whose first field is its name. Most events are skipped unread. {@link QualifyCommand} uses
 * it on the main thread.
 */
final class EventReader {
  private static final int NO_STAGE = -1;

  private final JsonFactory json = new JsonFactory();
  private final Application application;
  private long events;
  private long malformed;
  private long firstMalformed;

  EventReader(Application application) {
    this.application = application;
  }

  /** Reads the value at which a parser is; it may leave an object or an array unread. */
  private interface Field {
    void read(String name) throws IOException;
  }

  /**
   * Reads a file to its end, or as far as it can be decompressed.
   *
   * @return the reason why the rest cannot be read; empty at the end of the file
   * @throws IOException if the file cannot be opened
   */
  Optional<String> read(Path file) throws IOException {
    try (InputStream in = Codec.open(file)) {
      try {
        read(new LogLines(in));
        return Optional.empty();
      } catch (IOException e) {
        return Optional.of(
            "%s ends early, after line %d: %s".formatted(file, lines(), e.getMessage()));
      }
    }
  }

  private void read(LogLines lines) throws IOException {
    while (lines.nextLine()) {
      try (JsonParser parser = json.createParser(lines)) {
        event(parser);
        events++;
      } catch (JsonProcessingException | CharConversionException e) {
        malformed++;
        firstMalformed = firstMalformed == 0 ? lines() : firstMalformed;
      }
    }
  }

  private void event(JsonParser parser) throws IOException {
    if (parser.nextToken() != JsonToken.START_OBJECT || !"Event".equals(parser.nextFieldName())) {
      throw new NoEvent();
    }
    String name = parser.nextTextValue();
    if (name == null) {
      throw new NoEvent();
    }
    switch (name) {
      case "SparkListenerLogStart" -> logStart(parser);
      case "SparkListenerApplicationStart" -> applicationStart(parser);
      case "SparkListenerApplicationEnd" -> applicationEnd(parser);
      case "SparkListenerEnvironmentUpdate" -> environment(parser);
      case "SparkListenerStageSubmitted", "SparkListenerStageCompleted" -> stage(parser);
      case "SparkListenerTaskEnd" -> taskEnd(parser);
      default -> {} // nothing in it matters
    }
  }

  private void logStart(JsonParser parser) throws IOException {
    fields(
        parser,
        name -> {
          if (name.equals("Spark Version")) {
            application.version(parser.getText());
          }
        });
  }

  private void applicationStart(JsonParser parser) throws IOException {
    Described start = new Described();
    fields(
        parser,
        name -> {
          switch (name) {
            case "App Name" -> start.name = parser.getText();
            case "App ID" -> start.id = parser.getText();
            case "Timestamp" -> start.beginMs = parser.getLongValue();
            default -> {}
          }
        });
    application.started(start.name, start.id, start.beginMs);
  }

  private void applicationEnd(JsonParser parser) throws IOException {
    Described end = new Described();
    fields(
        parser,
        name -> {
          if (name.equals("Timestamp")) {
            end.endMs = parser.getLongValue();
          }
        });
    application.ended(end.endMs);
  }

  private void environment(JsonParser parser) throws IOException {
    fields(
        parser,
        name -> {
          if (name.equals("Spark Properties") && parser.currentToken() == JsonToken.START_OBJECT) {
            fields(
                parser,
                key -> {
                  if (key.equals("spark.shuffle.manager")) {
                    application.manager(parser.getText());
                  }
                });
          }
        });
  }

  private void stage(JsonParser parser) throws IOException {
    Described stage = new Described();
    fields(
        parser,
        event -> {
          if (event.equals("Stage Info") && parser.currentToken() == JsonToken.START_OBJECT) {
            fields(parser, name -> stage.note(name, parser));
          }
        });
    if (stage.stage != NO_STAGE) {
      application.stage(stage.stage, stage.attempt, stage.name, stage.beginMs, stage.endMs);
    }
  }

  private void taskEnd(JsonParser parser) throws IOException {
    Described task = new Described();
    TaskMetrics metrics = new TaskMetrics();
    fields(
        parser,
        event -> {
          if (event.equals("Task Metrics") && parser.currentToken() == JsonToken.START_OBJECT) {
            fields(parser, name -> metrics.note(name, parser));
          } else if (event.equals("Task Info") && parser.currentToken() == JsonToken.START_OBJECT) {
            fields(parser, name -> task.note(name, parser));
          } else {
            task.note(event, parser);
          }
        });
    application.at(task.endMs);
    if (metrics.isThere && task.stage != NO_STAGE) {
      application.task(task.stage, task.attempt, metrics.reads());
    } else {
      application.taskWithoutMetrics();
    }
  }

  /** Reads the fields of the object in which a parser is, to the end of the object. */
  private static void fields(JsonParser parser, Field field) throws IOException {
    for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
      parser.nextToken();
      field.read(name);
      parser.skipChildren();
    }
  }

  /** Name, ids and times of an application, a stage or a task. */
  private static final class Described {
    private String name = "";
    private String id = "";
    private long stage = NO_STAGE;
    private long attempt;
    private long beginMs;
    private long endMs;

    void note(String field, JsonParser parser) throws IOException {
      switch (field) {
        case "Stage ID" -> stage = parser.getLongValue();
        case "Stage Attempt ID" -> attempt = parser.getLongValue();
        case "Stage Name" -> name = parser.getText();
        case "Submission Time" -> beginMs = parser.getLongValue();
        case "Completion Time", "Finish Time" -> endMs = parser.getLongValue();
        default -> {}
      }
    }
  }

  /** Metrics of one task. */
  private static final class TaskMetrics {
    private final ShuffleReads reads = new ShuffleReads();
    private boolean isThere;
    private boolean hasBlocks;

    void note(String field, JsonParser parser) throws IOException {
      if (field.equals("Executor Run Time")) {
        reads.ran(parser.getLongValue());
        isThere = true;
      } else if (field.equals("Shuffle Read Metrics")
          && parser.currentToken() == JsonToken.START_OBJECT) {
        fields(parser, name -> noteRead(name, parser));
      }
    }

    private void noteRead(String field, JsonParser parser) throws IOException {
      if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT) {
        hasBlocks |= field.equals("Remote Blocks Fetched");
        reads.note(field, parser.getLongValue());
      } else if (parser.currentToken() == JsonToken.START_OBJECT) {
        fields(parser, name -> noteRead(name, parser)); // push-based shuffle
      }
    }

    ShuffleReads reads() {
      if (reads.isAny() && !hasBlocks) {
        reads.lacksBlocks();
      }
      return reads;
    }
  }

  /** A line of JSON that is no event. */
  private static final class NoEvent extends JsonProcessingException {
    private static final long serialVersionUID = 1;

    NoEvent() {
      super("no event");
    }
  }

  long events() {
    return events;
  }

  long malformed() {
    return malformed;
  }

  /** Returns the number of the first malformed line, in all files; 0 if there is none. */
  long firstMalformed() {
    return firstMalformed;
  }

  private long lines() {
    return events + malformed;
  }
}
