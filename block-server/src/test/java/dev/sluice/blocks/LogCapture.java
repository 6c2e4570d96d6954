package dev.sluice.blocks;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** Collects the warnings that a class logs until it is closed. */
final class LogCapture extends AbstractAppender implements AutoCloseable {
  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private final Logger logger;

  LogCapture(Class<?> source) {
    super("capture", null, null, false, Property.EMPTY_ARRAY);
    logger = (Logger) LogManager.getLogger(source);
    start();
    logger.addAppender(this);
  }

  List<String> warnings() {
    return warnings;
  }

  @Override
  public void append(LogEvent event) {
    if (event.getLevel() == Level.WARN) {
      warnings.add(event.getMessage().getFormattedMessage());
    }
  }

  @Override
  public void close() {
    logger.removeAppender(this);
    stop();
  }
}
