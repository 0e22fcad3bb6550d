import { describe, expect, it } from 'vitest';
import { createDocsAssets } from './createDocsAssets.ts';

const OWN = ['index.html', 'init.js', 'page.css', 'icon.svg', 'home.html', 'home.css'];
/** The files shown before the reference. */
const HOME = ['home.html', 'home.css'];
const PACKAGED = ['swagger-ui.css', 'swagger-ui-bundle.js'];

async function textOf(name: string): Promise<string> {
  const asset = await createDocsAssets()(name);
  return new TextDecoder().decode(Buffer.from(asset?.body ?? ''));
}

describe('createDocsAssets', () => {
  it.each([
    '',
    '.',
    '..',
    'INDEX.HTML',
    'index.html/',
    '../createDocsAssets.ts',
    '../../../../package.json',
    '..%2f..%2fpackage.json',
    '/etc/passwd',
    'package.json',
    'swagger-ui-bundle.js.map',
    '__proto__',
    'constructor',
    'init.js\0.css',
  ])('has no file %j', async (name) => {
    expect(await createDocsAssets()(name)).toBeUndefined();
  });

  it('gives answers that are under way at the same time one copy of a file', async () => {
    const find = createDocsAssets();
    const [first, second] = await Promise.all([find('swagger-ui-bundle.js'), find('swagger-ui-bundle.js')]);
    const third = await find('swagger-ui-bundle.js');
    expect(first?.body).toBe(second?.body);
    expect(first?.body).toBe(third?.body);
  });

  it('has a page without a script or style of its own, which the policy would refuse', async () => {
    const html = await textOf('index.html');
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/);
  });

  it('has a page whose files all exist, below the page', async () => {
    const find = createDocsAssets();
    const references = [...(await textOf('index.html')).matchAll(/(?:src|href)="docs\/([^"]+)"/g)].map(
      ([, name]) => name,
    );
    const its = [...OWN, ...PACKAGED].filter((name) => name !== 'index.html' && !HOME.includes(name));
    expect(new Set(references)).toEqual(new Set(its));
    for (const name of references) expect(await find(name ?? '')).toBeDefined();
  });

  it.each(OWN)('names no other host in %s', async (name) => {
    const hosts = [...(await textOf(name)).matchAll(/https?:\/\/[^\s"']+|url\([^)]+\)/g)].map(([text]) => text);
    // The icon's XML namespace is a name, not an address.
    expect(hosts).toEqual(name === 'icon.svg' ? ['http://www.w3.org/2000/svg'] : []);
  });
});
