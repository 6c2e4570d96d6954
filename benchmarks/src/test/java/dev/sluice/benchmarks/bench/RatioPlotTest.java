// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class RatioPlotTest {
  private static final int NAMES = 360;
  private static final int UNIT = 200;

  @Test
  void aBarIsAsLongAsTheRatio() throws Exception {
    Document svg = plot(row("storm", 1, 4), row("terasort", 3, 2), row("send", 471, 2));
    assertThat(bars(svg))
        .extracting(bar -> Integer.parseInt(bar.getAttribute("width")))
        .containsExactly(UNIT / 4, 3 * UNIT / 2, 2 * UNIT);
    assertThat(texts(svg)).contains("storm", "0.250", "terasort", "1.50", "send", "236");
  }

  @Test
  void theRangeOfTheRoundsIsShown() throws Exception {
    Comparison row =
        Comparison.less("start", "s", new double[] {1, 2, 3}, "stock", new double[] {2, 2, 2});
    assertThat(paths(plot(row))).first().asString().matches("M460 \\d+H660");
  }

  @Test
  void theLineIsWhereBothAreEqual() throws Exception {
    assertThat(paths(plot(row("storm", 1, 4)))).last().asString().startsWith("M560 ");
  }

  @Test
  void theColourTellsWhichIsBetter() throws Exception {
    Comparison bandwidth =
        new Comparison(
            "read",
            "MiB/s",
            Comparison.Better.MORE,
            new double[] {3},
            "ib_read_bw",
            new double[] {2},
            null);
    List<Element> bars = bars(plot(row("storm", 1, 2), row("slow", 3, 2), bandwidth));
    String good = bars.get(0).getAttribute("fill");
    assertThat(bars.get(1).getAttribute("fill")).isNotEqualTo(good);
    assertThat(bars.get(2).getAttribute("fill")).isEqualTo(good);
  }

  private static Comparison row(String name, double sluice, double stock) {
    return Comparison.less(name, "s", new double[] {sluice}, "stock", new double[] {stock});
  }

  private static Document plot(Comparison... rows) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(
            new ByteArrayInputStream(
                RatioPlot.svg(List.of(rows)).getBytes(StandardCharsets.UTF_8)));
  }

  private static List<Element> bars(Document svg) {
    return elements(svg, "rect").stream()
        .filter(rect -> rect.getAttribute("x").equals("" + NAMES))
        .toList();
  }

  private static List<String> paths(Document svg) {
    return elements(svg, "path").stream().map(path -> path.getAttribute("d")).toList();
  }

  private static List<String> texts(Document svg) {
    return elements(svg, "text").stream().map(Element::getTextContent).toList();
  }

  private static List<Element> elements(Document svg, String tag) {
    NodeList found = svg.getElementsByTagName(tag);
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < found.getLength(); i++) {
      elements.add((Element) found.item(i));
    }
    return elements;
  }
}
