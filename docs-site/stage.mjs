// SPDX-License-Identifier: Apache-2.0
// Lays out the pages of the site, at the paths of the repository: README.md, CHANGELOG.md, CONTRIBUTING.md,
// SECURITY.md, all documents below docs, and everything that these link to. Fails on a link to a missing file.
//   node stage.mjs REPOSITORY FOLDER
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, extname, join, posix } from 'node:path'

const [repository, folder] = process.argv.slice(2)
const CODE = /(```[\s\S]*?```|`[^`]+`)/
const LINK = /\]\(([^)\s#]+)(#[^)\s]+)?\)/g
const LANGUAGES = { conf: 'properties', java: 'java', json: 'json', properties: 'properties', sh: 'bash', xml: 'xml', yaml: 'yaml', yml: 'yaml' }

const documents = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...filesBelow('docs').filter((file) => file.endsWith('.md'))]
const pages = new Set(documents)
const deadLinks = []

for (const page of pages) {
  // A set also goes through the pages that are added meanwhile.
  write(site(page), page.endsWith('.md') ? withLinksOfTheSite(page) : pageOf(page))
}
if (deadLinks.length > 0) {
  console.error(deadLinks.join('\n'))
  process.exit(1)
}

/** Returns the document with links to pages of the site, which are added to the pages. */
function withLinksOfTheSite(document) {
  const change = (all, target, heading = '') => {
    if (/^\w+:/.test(target)) {
      return all
    }
    const file = posix.join(posix.dirname(document), target).replace(/\/$/, '')
    if (file.startsWith('../') || !existsSync(join(repository, file))) {
      deadLinks.push(`${document} links to ${target}, which does not exist`)
    } else if (/\.(png|svg)$/.test(file)) {
      copy(file, file)
    } else if (extname(file) === '.json') {
      copy(file, `public/${file}`)
    } else {
      pages.add(file)
      return `](${posix.relative(posix.dirname(document), site(file))}${heading})`
    }
    return all
  }
  const parts = readFileSync(join(repository, document), 'utf8').split(CODE)
  return parts.map((part, index) => (index % 2 ? part : part.replace(LINK, change))).join('')
}

/** Returns the path of a page in the site's source. */
function site(page) {
  return page === 'README.md' ? 'index.md' : page.endsWith('.md') ? page : `${page}.md`
}

/** Returns a page with the text of a file, or of all files below a folder. The search does not find it. */
function pageOf(path) {
  const text = (file) => `\`\`\`\`${language(file)}\n${readFileSync(join(repository, file), 'utf8').trimEnd()}\n\`\`\`\``
  const isFolder = statSync(join(repository, path)).isDirectory()
  const files = isFolder ? filesBelow(path).map((file) => `## \`${posix.relative(path, file)}\`\n\n${text(file)}`) : [text(path)]
  return `---\nsearch: false\n---\n# \`${path}\`\n\n${files.join('\n\n')}\n`
}

function language(file) {
  return LANGUAGES[extname(file.replace(/\.template$/, '')).slice(1)] ?? (file.endsWith('Dockerfile') ? 'docker' : 'txt')
}

/** Returns the files below a folder in order, without those that a build has made. */
function filesBelow(path) {
  return readdirSync(join(repository, path), { withFileTypes: true })
    .filter((entry) => entry.name !== 'target')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(`${path}/${entry.name}`) : [`${path}/${entry.name}`]))
}

function write(file, text) {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}

function copy(file, to) {
  cpSync(join(repository, file), join(folder, to))
}
