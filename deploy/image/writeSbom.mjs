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
 * @property {{ name: string, value: string }[]} [properties]
 */

/**
 * @typedef {object} Sbom
 * @property {Component[]} components
 * @property {{ ref: string, dependsOn: string[] }[]} dependencies
 */

/** What npm reads in the lockfile, for it refuses a folder in which packages for development are missing. @returns {Sbom} */
function askNpm() {
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--omit=dev'];
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  return JSON.parse(stdout);
}

/** Whether npm has put a component into this folder. @param {Component} component */
function isHere({ properties = [] }) {
  const path = properties.find(({ name }) => name === 'cdx:npm:package:path')?.value;
  return path !== undefined && existsSync(join(root, path, 'package.json'));
}

/** Leaves out what is not installed. @param {Sbom} sbom @returns {Sbom} */
function keepInstalled(sbom) {
  const components = sbom.components.filter(isHere);
  const gone = new Set(sbom.components.filter((one) => !isHere(one)).map((one) => one['bom-ref']));
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
