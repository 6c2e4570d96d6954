// SPDX-License-Identifier: Apache-2.0
// Looks at all pages of a built site in headless Chromium. The last line has the totals. Keeps pictures.
//   node check.mjs SITE PICTURES CHROMIUM
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import sirv from 'sirv'

const [site, pictures, executablePath] = process.argv.slice(2)
const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }
const LONG_PAGE = '/docs/troubleshooting.html'
const WIDE_TABLE = '/docs/figures/performance-tables.html'
const READABLE_CONTRAST = 4.5 // WCAG 2, level AA

// Serves files under their full names alone, as the simplest servers do.
const serve = sirv(site, { extensions: [] })
const server = createServer((request, response) => {
  request.url = request.url.replace(/\/(?=$|\?)/, '/index.html')
  serve(request, response)
})
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
const origin = `http://127.0.0.1:${server.address().port}`

const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
})

let passed = 0
let failed = 0
let problems = []

function expect(condition, problem) {
  if (!condition) {
    problems.push(problem)
  }
}

/** Runs a check in a new page of the browser. Errors of the console, and requests that fail or leave this machine, fail it. */
async function check(name, options, run) {
  problems = []
  const context = await browser.newContext({ viewport: DESKTOP, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  page.on('console', (message) => expect(message.type() !== 'error', `${page.url()}: ${message.text()}`))
  page.on('pageerror', (error) => expect(false, `${page.url()}: ${error}`))
  page.on('response', (response) => expect(response.ok(), `${page.url()}: ${response.status()} for ${response.url()}`))
  page.on('request', (request) =>
    expect(/^(data|blob):/.test(request.url()) || request.url().startsWith(origin), `${page.url()} asks ${request.url()}`),
  )
  try {
    await run(page)
  } catch (error) {
    problems.push(error.message)
  }
  await context.close()
  if (problems.length === 0) {
    passed++
  } else {
    failed++
    console.log(`FAILED: ${name}\n  ${problems.join('\n  ')}`)
  }
}

async function open(page, path) {
  await page.goto(origin + path, { waitUntil: 'networkidle' })
}

function picture(page, name) {
  return page.screenshot({ path: join(pictures, `${name}.png`) })
}

/** Returns the lowest contrast of texts with their backgrounds, with the text. Runs in the browser. */
function lowestContrast() {
  const channels = (colour) => {
    const [r, g, b, alpha = 1] = colour.match(/[\d.]+/g).map(Number)
    return { rgb: [r, g, b], alpha }
  }
  const over = (top, rgb) => top.rgb.map((value, i) => value * top.alpha + rgb[i] * (1 - top.alpha))
  const background = (element) =>
    element ? over(channels(getComputedStyle(element).backgroundColor), background(element.parentElement)) : [255, 255, 255]
  const luminance = (rgb) =>
    rgb
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0)
  const texts = document.querySelectorAll('.vp-doc :is(h1, h2, p, li, td, th, a, code, pre span), .VPSidebar .text')
  return [...texts]
    .filter((element) => element.textContent.trim() && element.checkVisibility())
    .map((element) => {
      const behind = background(element)
      const lights = [luminance(over(channels(getComputedStyle(element).color), behind)), luminance(behind)].sort((a, b) => b - a)
      return { contrast: (lights[0] + 0.05) / (lights[1] + 0.05), text: element.textContent.trim().slice(0, 60) }
    })
    .reduce((lowest, found) => (found.contrast < lowest.contrast ? found : lowest))
}

await check('start page', {}, async (page) => {
  await open(page, '/')
  expect((await page.locator('h1').innerText()).startsWith('Sluice'), 'the heading is not Sluice')
  const groups = await page.locator('.VPSidebar .level-0 > .item').allInnerTexts()
  expect(groups.join() === 'For operators,For developers', `the groups are ${groups}`)
  await picture(page, 'start')
})

await check('long page', {}, async (page) => {
  await open(page, LONG_PAGE)
  const heading = page.locator('.vp-doc h2').last()
  await page.goto(`${origin}${LONG_PAGE}#${await heading.getAttribute('id')}`)
  await page.waitForFunction(() => scrollY > 500)
  expect(await heading.evaluate((element) => element.getBoundingClientRect().top < innerHeight), 'an anchor does not scroll to its heading')
  await picture(page, 'long')
})

await check('search', {}, async (page) => {
  await open(page, '/')
  await page.waitForFunction(() => document.querySelector('#app').__vue_app__) // it listens to keys from then on
  await page.keyboard.press('Control+k')
  await page.locator('.VPLocalSearchBox input').fill('memlock')
  const result = page.locator('.VPLocalSearchBox .result').first()
  await result.waitFor()
  await picture(page, 'search')
  await result.click()
  await page.locator('.vp-doc', { hasText: 'memlock' }).waitFor()
})

for (const colorScheme of ['light', 'dark']) {
  await check(`${colorScheme} page is readable`, { colorScheme }, async (page) => {
    for (const path of ['/', '/docs/quick-start.html', '/conf/kubernetes.html', '/conf/helm.html', WIDE_TABLE]) {
      await open(page, path)
      expect((await page.locator('html.dark').count()) === (colorScheme === 'dark' ? 1 : 0), `${path} is not ${colorScheme}`)
      const { contrast, text } = await page.evaluate(lowestContrast)
      expect(contrast >= READABLE_CONTRAST, `${path}: contrast ${contrast.toFixed(1)} of '${text}'`)
      await picture(page, `${colorScheme}${path === '/' ? '' : path.replace(/.*(\/.*)\.html/, '$1').replace('/', '-')}`)
    }
  })
}

await check('wide table on a phone', { viewport: PHONE }, async (page) => {
  await open(page, WIDE_TABLE)
  const table = page.locator('.vp-doc table').first()
  const scrolled = await table.evaluate((element) => {
    element.scrollIntoView()
    element.scrollLeft = 1_000
    return element.scrollLeft
  })
  await picture(page, 'phone-table')
  expect(scrolled > 0, 'the table does not scroll')
})

// Where links lead, and the ids of each page.
const links = new Map()
const ids = new Map()

await check('all pages on a phone', { viewport: PHONE }, async (page) => {
  const files = readdirSync(site, { recursive: true }).filter((file) => file.endsWith('.html') && file !== '404.html')
  for (const path of files.map((file) => `/${file}`)) {
    await open(page, path)
    const found = await page.evaluate(() => ({
      links: [...document.querySelectorAll('a[href]')].map((link) => link.href),
      ids: [...document.querySelectorAll('[id]')].map((element) => element.id),
      width: document.documentElement.scrollWidth,
    }))
    expect(found.width <= PHONE.width, `${path} is ${found.width} pixels wide`)
    found.links.filter((link) => link.startsWith(origin)).forEach((link) => links.set(link, path))
    ids.set(origin + path, found.ids)
  }
  expect(files.length > 40, `there are ${files.length} pages`)
  await open(page, LONG_PAGE)
  await picture(page, 'phone')
})

await check('links', {}, async () => {
  expect(links.size > 100, `there are ${links.size} links`)
  for (const [link, from] of links) {
    const [address, id] = link.split('#')
    const { status } = await fetch(address)
    expect(status === 200, `${from} links to ${link}: ${status}`)
    const known = ids.get(address.endsWith('/') ? `${address}index.html` : address)
    expect(!id || known?.includes(decodeURIComponent(id)), `${from} links to ${link}, which has no such heading`)
  }
})

await browser.close()
server.close()
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
