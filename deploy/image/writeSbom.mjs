// @ts-check
/**
 * `node deploy/image/writeSbom.mjs FOLDER`: writes sbom.cdx.json, the image's bill of materials in CycloneDX: what npm has installed, and
 * the packages of the Debian base whose `/var/lib/dpkg` is in FOLDER.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * @typedef {object} Component
 * @property {string} bom-ref
 */

/**
 * @typedef {object} Sbom
 * @property {Component[]} components
 * @property {{ ref: string, dependsOn: string[] }[]} dependencies
 */

/** All that npm reads in the lockfile, for it refuses a folder in which packages for development are missing. @returns {Sbom} */
function askNpm() {
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'];
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  return JSON.parse(stdout);
}

/** The packages that npm has put into this folder, as `name@version`. @returns {Set<string>} */
function listInstalled() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const here = Object.entries(packages).filter(([path]) => existsSync(join(root, path, 'package.json')));
  return new Set(here.map(([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`));
}

/** Leaves out what is not installed. @param {Sbom} sbom @returns {Sbom} */
function keepInstalled(sbom) {
  const installed = listInstalled();
  const components = sbom.components.filter((one) => installed.has(one['bom-ref']));
  const gone = new Set(sbom.components.map((one) => one['bom-ref']).filter((ref) => !installed.has(ref)));
  const dependencies = sbom.dependencies
    .filter(({ ref }) => !gone.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => !gone.has(one)) }));
  return { ...sbom, components, dependencies };
}

/**
 * Reads what dpkg knows: one file of all packages, or, in distroless images, a file each.
 *
 * @param {string} folder `/var/lib/dpkg` of the base
 * @returns {Record<string, string>[]} the fields of each package
 */
function readPackages(folder) {
  const single = join(folder, 'status');
  const each = join(folder, 'status.d');
  const texts = existsSync(each) ? readdirSync(each).map((name) => readFileSync(join(each, name), 'utf8')) : [];
  if (existsSync(single)) texts.push(...readFileSync(single, 'utf8').split('\n\n'));
  return texts
    .map((text) =>
      Object.fromEntries([...text.matchAll(/^([A-Z][\w-]*): (.*)$/gm)].map(([, name, value]) => [name, value])),
    )
    .filter(({ Package }) => Package !== undefined);
}

/** @param {Record<string, string>} fields of a package */
function asComponent({ Package: name, Version: version, Architecture: arch }) {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version ?? '')}?arch=${arch}`;
  return { type: 'library', 'bom-ref': purl, name, version, purl };
}

const [folder = '/var/lib/dpkg'] = process.argv.slice(2);
const sbom = keepInstalled(askNpm());
sbom.components.push(...readPackages(folder).map(asComponent));
writeFileSync(join(root, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 1)}\n`);
console.log(`sbom.cdx.json: ${sbom.components.length} components`);
