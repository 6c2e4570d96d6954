package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonTable;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes the parts of a document that come from results; everything between them is written by hand
 * and stays. A part is what stands between {@code <!-- goals -->}, or one of
 *
 * <pre>
 * &lt;!-- rows: storm-* --&gt;              a table of the rows of such a name
 * &lt;!-- ratios: storm-* --&gt;      a plot of their ratios
 * &lt;!-- sizes: read-soft-*-x64 --&gt;     a plot of their values over the size of a READ
 * </pre>
 *
 * and {@code <!-- end -->}. Where no row has such a name, it says that nothing was measured.
 */
final class GeneratedParts {
  private static final Pattern PART =
      Pattern.compile(
          "(<!-- (goals|rows|ratios|sizes)(?:: ([^>]+))? -->\n).*?(<!-- end -->)", Pattern.DOTALL);

  private final String folder;
  private final List<Comparison> rows;
  private final Map<String, String> figures = new TreeMap<>();

  /**
   * @param folder of the figures, as seen from the document
   */
  GeneratedParts(String folder, List<Comparison> rows) {
    this.folder = folder;
    this.rows = rows;
  }

  /** The document with its generated parts as the rows have it. */
  String write(String document) {
    return PART.matcher(document)
        .replaceAll(
            part ->
                Matcher.quoteReplacement(part.group(1) + "\n" + text(part) + "\n" + part.group(4)));
  }

  /** The figures that it refers to, by file name. */
  Map<String, String> figures() {
    return figures;
  }

  private String text(MatchResult part) {
    String kind = part.group(2);
    if (kind.equals("goals")) {
      return Goal.table(rows);
    }
    List<Comparison> chosen = new RowPattern(part.group(3)).of(rows);
    if (chosen.isEmpty()) {
      return "Not measured.\n";
    }
    return switch (kind) {
      case "rows" -> ComparisonTable.markdown(chosen);
      case "ratios" -> figure(part, chosen, RatioPlot::of);
      default -> figure(part, chosen, SizePlot::of);
    };
  }

  private String figure(
      MatchResult part, List<Comparison> chosen, Function<List<Comparison>, String> plot) {
    String words = part.group(2) + " " + part.group(3);
    String file = words.replaceAll("[^A-Za-z0-9]+", "-").replaceAll("-$", "") + ".svg";
    figures.put(file, plot.apply(chosen));
    return "![%s](%s/%s)\n".formatted(words, folder, file);
  }
}
