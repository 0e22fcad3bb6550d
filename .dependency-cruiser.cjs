/** Who may import whom: the table of the design, checked in CI; edges of types alone count as others do. */

/** What each folder may import of ours, beside itself. Whatever stands in no list of a folder is forbidden to it. */
const mayImport = {
  // What crosses the wire, and nothing else.
  'packages/protocol': [],
  // What every daemon needs: it knows nothing of what is built with it.
  'packages/node': [],
  'packages/contracts': ['packages/protocol'],
  'packages/devnet': ['packages/contracts', 'packages/protocol', 'packages/node'],
  // Its core is held tighter below.
  'packages/gateway': ['packages/protocol', 'packages/node'],
  // The console's words: a story, and whether all is well.
  'packages/cli': ['packages/console', 'packages/node'],
  'packages/console': ['packages/protocol'],
  'packages/sdk': ['packages/protocol', 'packages/contracts'],
  'packages/sender': ['packages/node'],
  'packages/relayer': ['sdk', 'sender', 'node', 'protocol', 'contracts'].map((name) => `packages/${name}`),
  'packages/payments': ['sender', 'node', 'contracts'].map((name) => `packages/${name}`),
  'packages/testing': ['sdk', 'node', 'protocol', 'contracts', 'devnet'].map((name) => `packages/${name}`),
  // Black box: HTTP, and the rig that starts a gateway. The target on Lambda builds its function first.
  acceptance: ['packages/protocol', 'packages/node', 'packages/testing', 'scripts'],
  // A user of all: it measures what others run.
  bench: ['packages/[^/]+', 'scripts', 'bin'],
  // What users use; gateway and relayers are processes.
  demo: ['contracts', 'protocol', 'node', 'sdk', 'testing'].map((name) => `packages/${name}`),
  examples: ['packages/contracts', 'packages/protocol', 'packages/sdk'],
  infra: ['packages/gateway', 'packages/protocol', 'packages/sdk', 'packages/testing'],
  // The real programs, in a world that is not.
  simulation: ['packages/[^/]+'],
  // The rules that acceptance tests show stand in its table of cases.
  scripts: ['packages/[^/]+', 'bin', 'acceptance'],
  bin: ['scripts'],
  // Tests of what is shipped, with processes and tools of the system.
  deploy: ['packages/[^/]+', 'scripts', 'bin'],
};

const tests = '\\.(test|rig)\\.ts$';
const never = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** The rule of one row. Of packages it holds for what runs; their tests and scripts may use any public entry. */
function rowRule([folder, others]) {
  const isPackage = folder.startsWith('packages/');
  return never(
    `${folder.replace('packages/', '')}-imports`,
    `${folder} may import ${others.join(', ') || 'nothing'} of ours.`,
    { path: `^${folder}/${isPackage ? 'src/' : ''}`, pathNot: tests },
    {
      path: '^(packages/[^/]+|acceptance|bench|demo|deploy|examples|infra|scripts|simulation|bin)/',
      pathNot: `^(${[folder, ...others].join('|')})/`,
    },
  );
}

module.exports = {
  forbidden: [
    ...Object.entries(mayImport).map(rowRule),
    never('no-cycles', 'Modules that import each other cannot be understood apart.', {}, { circular: true }),
    never(
      'no-orphan-packages',
      'Import only what the package.json names.',
      {},
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    never(
      'resolvable',
      'Imports must exist.',
      {},
      // The construct library and clients for AWS are installed by who deploys; the gateway serves Preact under this name.
      {
        couldNotResolve: true,
        pathNot:
          '^(\\./preact\\.js$|aws-cdk-lib|cdk-nag|constructs|@aws-sdk/client-(cloudformation|codedeploy|lambda|ssm|sts))(/|$)',
      },
    ),
    never(
      'by-public-entries',
      'A package is imported by its name, so that its package.json says what others may use.',
      { path: '^(packages/[^/]+|acceptance|bench|demo|examples|infra|scripts|simulation)/' },
      { path: '^packages/', pathNot: '^$1/', dependencyTypesNot: ['aliased-workspace'] },
    ),
    never(
      'browser-safe',
      'protocol and sdk run in any browser: no Node built-ins.',
      { path: '^packages/(protocol|sdk|console)/src', pathNot: tests },
      { dependencyTypes: ['core'] },
    ),
    never(
      'protocol-dependencies',
      'protocol takes zod and pure viem functions only.',
      { path: '^packages/protocol/src', pathNot: tests },
      { path: 'node_modules/(?!zod/|viem/|abitype/|ox/|@noble/)' },
    ),
    never(
      'gateway-core-without-vendors',
      'Outside drivers, entry and its public entries, the gateway knows protocol, hono, its ports and rules.',
      {
        path: '^packages/gateway/src',
        pathNot: `^packages/gateway/src/((drivers|entry|openapi)/|(bundling|deployment)\\.ts$)|${tests}`,
      },
      { path: 'node_modules/(?!hono/)|^packages/node/|^packages/gateway/src/(drivers|entry)/' },
    ),
    never(
      'documents-on-demand',
      'The documents of routes are loaded with the OpenAPI document, not at start.',
      {
        path: '^packages/gateway/src',
        pathNot: `^packages/gateway/src/(openapi/|bundling\\.ts$)|\\.docs\\.ts$|${tests}`,
      },
      { path: '^packages/gateway/src/(openapi/|.*\\.docs\\.ts$)', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    ),
    never(
      'requests-know-no-http',
      'The state machine throws errors of its own, which http maps.',
      { path: '^packages/gateway/src/(requests|ports|rules)/', pathNot: tests },
      { path: '^packages/gateway/src/(http|routes|auth|openapi)/' },
    ),
    never(
      'writer-without-schemas',
      'The writer runs on a thread of its own, where the schemas of protocol would cost 7 MB: it takes protocol/states.',
      { path: '^packages/gateway/src/drivers/sqlite/(runWriter|requestWrites|accessWrites|tables)\\.ts$' },
      { path: '^packages/protocol/src/index\\.ts$', dependencyTypesNot: ['type-only'] },
    ),
    never(
      'drivers-stay-apart',
      'A driver knows its port, the rules, protocol and node, and its own vendor.',
      { path: '^packages/gateway/src/drivers/([^/]+)/', pathNot: tests },
      {
        path: '^packages/gateway/src/(drivers|entry|auth|requests|push|routes|app)',
        pathNot: '^packages/gateway/src/drivers/($1|sql)/',
      },
    ),
    never(
      'shared-sql',
      "What SQL stores share is nobody else's.",
      { path: '^packages/gateway/src/', pathNot: `^packages/gateway/src/drivers/(sql|sqlite|postgres)/|${tests}` },
      { path: '^packages/gateway/src/drivers/sql/' },
    ),
    never(
      'only-entry-imports-entry',
      'Entries wire; nothing builds on them but what is public of them.',
      { path: '^packages/gateway/src/(?!entry/)', pathNot: `/(bundling|deployment)\\.ts$|${tests}` },
      { path: '^packages/gateway/src/entry/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Tests may use rigs freely, and the parser does not know `using`.
    exclude: {
      path: '(^|/)(dist|data|generated|consumers/apps)/|^(packages|bench|bin|demo|infra|scripts|simulation)/.*\\.test\\.ts$',
    },
    parser: 'swc',
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'types', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
};
