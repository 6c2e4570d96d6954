// SPDX-License-Identifier: Apache-2.0
// Configuration of VitePress. stage.mjs has made the pages in the folder src.
import { readdirSync, readFileSync } from 'node:fs'
import { slug } from 'github-slugger'
import { defineConfig } from 'vitepress'

const src = new URL('../src/', import.meta.url)

// The pages of a group in their order. A folder stands for its pages that no group names, by title.
const groups = {
  'For operators': {
    Start: ['index', 'docs/quick-start', 'docs/doctor', 'docs/sizing', 'docs/spark-versions', 'docs/hardware'],
    Clusters: ['docs/standalone', 'docs/yarn', 'docs/kubernetes', 'docs/node-daemon', 'docs/mapreduce', 'docs/other-engines'],
    Operation: ['docs/tuning', 'docs/troubleshooting', 'docs/security'],
    Results: ['docs/performance', 'docs/reliability', 'docs/figures/'],
    Reference: ['docs/configuration', 'docs/metrics', 'docs/mapreduce-settings', 'docs/', 'CHANGELOG', 'SECURITY'],
  },
  'For developers': {
    'The code': ['docs/dev/architecture', 'docs/dev/glossary', 'CONTRIBUTING', 'docs/dev/testing', 'docs/dev/'],
    'Verbs for Java': ['docs/verbs', 'docs/verbs-tools', 'docs/verbs-functions', 'verbs/README', 'examples/README'],
  },
}
const named = new Set(Object.values(groups).flatMap((parts) => Object.values(parts).flat()))

function item(page) {
  const text = /^# (.*)$/m.exec(readFileSync(new URL(`${page}.md`, src), 'utf8'))[1]
  return { text, link: page === 'index' ? '/' : `/${page}` }
}

function itemsOf(entry) {
  if (!entry.endsWith('/')) {
    return [item(entry)]
  }
  return readdirSync(new URL(entry, src))
    .filter((file) => file.endsWith('.md'))
    .map((file) => entry + file.slice(0, -'.md'.length))
    .filter((page) => !named.has(page))
    .map(item)
    .sort((a, b) => a.text.localeCompare(b.text))
}

const sidebar = Object.entries(groups).map(([text, parts]) => ({
  text,
  items: Object.entries(parts).map(([part, entries]) => ({ text: part, collapsed: false, items: entries.flatMap(itemsOf) })),
}))

export default defineConfig({
  title: 'Sluice',
  description: "Apache Spark's shuffle by one-sided RDMA",
  srcDir: 'src',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    attrs: { disable: true },
    anchor: { slugify: slug },
    // As GitHub: a URL becomes a link, the name of a file does not.
    config: (md) => md.linkify.set({ fuzzyLink: false, fuzzyEmail: false }),
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      { text: 'Quick start', link: '/docs/quick-start' },
      { text: 'Configuration', link: '/docs/configuration' },
      { text: 'Troubleshooting', link: '/docs/troubleshooting' },
      { text: 'For developers', link: '/docs/dev/architecture' },
    ],
  },
})
