// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.UIUtils;
import org.apache.spark.ui.WebUIPage;
import org.apache.spark.util.kvstore.KVStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Function0;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.xml.Node;
import scala.xml.Unparsed;

/**
 * The tab and its only page, for Spark 4. {@link SluiceUi} attaches it, after it has found the
 * servlets of Spark 4. Threads of Spark's web server render the page from Spark's store, which they
 * only read.
 */
final class SluiceTab extends SparkUITab {
  private static final Logger LOG = LoggerFactory.getLogger(SluiceTab.class);

  /** Name in the page's address. Spark shows it with a capital letter. */
  private static final String PREFIX = "sluice";

  private SluiceTab(SparkUI parent) {
    super(parent, PREFIX);
  }

  static void attach(SparkUI ui) {
    SluiceTab tab = new SluiceTab(ui);
    tab.attachPage(new Page(tab, ui.store().store()));
    synchronized (ui) { // Spark 4.0 to 4.2 take no lock for their lists of tabs and handlers.
      ui.attachTab(tab);
    }
  }

  private static final class Page extends WebUIPage {
    private final SluiceTab tab;
    private final KVStore store;

    Page(SluiceTab tab, KVStore store) {
      super("");
      this.tab = tab;
      this.store = store;
    }

    @Override
    public Seq<Node> render(HttpServletRequest request) {
      return withHeader(request, content());
    }

    private String content() {
      try {
        return SluiceStatus.of(store)
            .map(StatusPage::of)
            .or(() -> SluiceStatus.Off.of(store).map(StatusPage::off))
            .orElseGet(StatusPage::empty);
      } catch (RuntimeException e) {
        LOG.warn("Rendering the tab Sluice failed", e);
        return StatusPage.failed();
      }
    }

    /**
     * Returns the page with Spark's header. The method for that has the same first five parameters
     * in all versions, and then two or three switches for scripts, which this page does not need.
     */
    @SuppressWarnings("unchecked")
    private Seq<Node> withHeader(HttpServletRequest request, String html) {
      Function0<Seq<Node>> content = () -> nodes(html);
      try {
        Method header =
            Arrays.stream(UIUtils.class.getMethods())
                .filter(method -> method.getName().equals("headerSparkPage"))
                .findFirst()
                .orElseThrow(NoSuchMethodException::new);
        Object[] arguments = new Object[header.getParameterCount()];
        Arrays.fill(arguments, false);
        Object[] first = {request, "Sluice", content, tab, Option.empty()};
        System.arraycopy(first, 0, arguments, 0, first.length);
        return (Seq<Node>) header.invoke(null, arguments);
      } catch (ReflectiveOperationException | RuntimeException e) {
        LOG.warn("The page Sluice has no header, because Spark's method for it failed", e);
        return nodes(html);
      }
    }

    /** Returns HTML as it is. {@link StatusPage} has escaped all that is not its own. */
    private static Seq<Node> nodes(String html) {
      return CollectionConverters.asScala(List.<Node>of(new Unparsed(html))).toSeq();
    }
  }
}
