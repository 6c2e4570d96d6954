// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.log;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** Collects the log messages of a class at a level until it is closed. */
public final class LogCapture extends AbstractAppender implements AutoCloseable {
  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final Logger logger;
  private final Level level;
  private final Level before;

  public LogCapture(Class<?> source, Level level) {
    super(
        "capture of " + source.getName() + " at " + level, null, null, false, Property.EMPTY_ARRAY);
    this.level = level;
    logger = (Logger) LogManager.getLogger(source);
    start();
    logger.addAppender(this);
    before = logger.getLevel();
    setLevel(level);
  }

  /** Sets the level in the configuration: the logger's own level is lost with the next appender. */
  private void setLevel(Level next) {
    logger.get().setLevel(next);
    logger.getContext().updateLoggers();
  }

  public List<String> messages() {
    return messages;
  }

  @Override
  public void append(LogEvent event) {
    if (event.getLevel() == level) {
      messages.add(event.getMessage().getFormattedMessage());
    }
  }

  @Override
  public void close() {
    logger.removeAppender(this);
    setLevel(before);
    stop();
  }
}
