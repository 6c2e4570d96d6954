package dev.sluice.benchmarks.report;

import java.io.StringReader;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** A drawing as a reader of XML sees it. */
record Drawing(Document document) {
  /** Fails where the text is not well-formed. */
  static Drawing of(String svg) throws Exception {
    return new Drawing(
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(svg))));
  }

  /** Elements of a name and style, in their order. */
  List<Element> all(String name, String style) {
    NodeList elements = document.getElementsByTagName(name);
    return IntStream.range(0, elements.getLength())
        .mapToObj(i -> (Element) elements.item(i))
        .filter(element -> element.getAttribute("class").equals(style))
        .toList();
  }

  List<String> labels(String style) {
    return all("text", style).stream().map(Element::getTextContent).toList();
  }

  static double number(Element element, String attribute) {
    return Double.parseDouble(element.getAttribute(attribute));
  }
}
