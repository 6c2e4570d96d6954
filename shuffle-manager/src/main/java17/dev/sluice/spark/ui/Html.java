// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import java.util.Locale;
import org.apache.spark.util.Utils;

/** Texts of the page: escaped, and numbers with units. {@link StatusPage} uses it. Any thread. */
final class Html {
  private Html() {}

  /** Returns the text for an element or an attribute in double quotes. */
  static String escape(String text) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> out.append("&amp;");
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '"' -> out.append("&quot;");
        case '\'' -> out.append("&#39;");
        default -> out.append(c < ' ' ? ' ' : c);
      }
    }
    return out.toString();
  }

  /** Returns bytes such as 1.5 GiB. */
  static String bytes(long bytes) {
    return Utils.bytesToString(bytes);
  }

  /** Returns a time such as 85 µs, 1.2 ms or 3.0 s. */
  static String micros(long micros) {
    if (micros < 1_000) {
      return micros + " µs";
    }
    return micros < 1_000_000
        ? String.format(Locale.ROOT, "%.1f ms", micros / 1e3)
        : String.format(Locale.ROOT, "%.1f s", micros / 1e6);
  }

  /** Returns a number with separators of thousands. */
  static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** Returns the share of a part, such as 12.5 %. */
  static String percent(long part, long all) {
    return all == 0 ? "0 %" : String.format(Locale.ROOT, "%.1f %%", 100.0 * part / all);
  }

  /** Returns a cell of text. */
  static String cell(String text) {
    return "<td>" + escape(text) + "</td>";
  }

  /** Returns a cell of text that shows more where the mouse points at it. */
  static String cell(String text, String more) {
    return "<td title=\"" + escape(more) + "\">" + escape(text) + "</td>";
  }

  /**
   * Returns a cell of a number, which Spark's tables sort by its value.
   *
   * @param text not escaped yet
   */
  static String number(long value, String text) {
    return String.format(
        Locale.ROOT,
        "<td style=\"text-align:right;white-space:nowrap\" sorttable_customkey=\"%d\">%s</td>",
        value,
        escape(text));
  }

  /**
   * Returns a cell of a time with a bar below it.
   *
   * @param micros 0 for no time
   * @param most time of the longest bar
   * @param marked true for a bar in the colour of trouble
   */
  static String time(long micros, long most, boolean marked) {
    if (micros == 0) {
      return number(0, "–");
    }
    long width = most == 0 ? 0 : Math.max(1, 100 * micros / most);
    return String.format(
        Locale.ROOT,
        "<td style=\"text-align:right;min-width:6em;white-space:nowrap\" sorttable_customkey=\"%d\">%s"
            + "<div style=\"height:3px;margin-left:auto;width:%d%%;background:%s\"></div></td>",
        micros,
        escape(micros(micros)),
        width,
        marked ? "#e59866" : "#aed6f1");
  }

  /**
   * Begins a table in Spark's style. A browser whose window is narrower scrolls it.
   *
   * @param id id of the element
   * @param heads heads of the columns
   */
  static String table(String id, String... heads) {
    StringBuilder out =
        new StringBuilder("<div style=\"overflow-x:auto\"><table id=\"")
            .append(id)
            .append(
                "\" class=\"table table-bordered table-sm table-striped table-hover sortable\">")
            .append("<thead><tr>");
    for (String head : heads) {
      out.append("<th>").append(escape(head)).append("</th>");
    }
    return out.append("</tr></thead><tbody>").toString();
  }

  static String tableEnd() {
    return "</tbody></table></div>";
  }
}
