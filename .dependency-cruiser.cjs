/** Who may import whom: the table of the design, checked in CI. */
const ours = (...names) => `^(packages/(${names.join('|')})|${names.join('|')})/`;
const never = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    never(
      'no-cycles',
      'Modules that import each other cannot be understood apart.',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    never(
      'no-orphan-packages',
      'Import only what the package.json names.',
      {},
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    never('resolvable', 'Imports must exist.', {}, { couldNotResolve: true }),
    never(
      'protocol-is-pure',
      'protocol is browser-safe: no Node built-ins, nothing of ours.',
      { path: '^packages/protocol/src', pathNot: '\\.test\\.ts$' },
      { path: '^packages/(?!protocol/)|^(acceptance|bench)/', dependencyTypesNot: ['type-only'] },
    ),
    never(
      'protocol-without-node',
      'protocol is browser-safe: no Node built-ins.',
      { path: '^packages/protocol/src', pathNot: '\\.test\\.ts$' },
      { dependencyTypes: ['core'] },
    ),
    never(
      'protocol-dependencies',
      'protocol takes zod and pure viem functions only.',
      { path: '^packages/protocol/src', pathNot: '\\.test\\.ts$' },
      { path: 'node_modules/(?!zod/|viem/|abitype/|ox/|@noble/)' },
    ),
    never(
      'gateway-core-without-vendors',
      'Outside drivers and entry, the gateway knows protocol, hono and its ports.',
      { path: '^packages/gateway/src', pathNot: '^packages/gateway/src/(drivers|entry|openapi)/|\\.test\\.ts$' },
      { path: 'node_modules/(?!hono/)|^packages/gateway/src/(drivers|entry)/' },
    ),
    never(
      'requests-know-no-http',
      'The state machine throws errors of its own, which http maps.',
      { path: '^packages/gateway/src/(requests|ports)/', pathNot: '\\.test\\.ts$' },
      { path: '^packages/gateway/src/(http|routes|auth|openapi)/' },
    ),
    never(
      'drivers-stay-apart',
      'A driver knows its port, protocol and its own vendor.',
      { path: '^packages/gateway/src/drivers/([^/]+)/', pathNot: '\\.test\\.ts$' },
      {
        path: '^packages/gateway/src/(drivers|entry|auth|requests|routes|app)',
        pathNot: '^packages/gateway/src/drivers/$1/',
      },
    ),
    never(
      'only-entry-imports-entry',
      'Entries wire; nothing builds on them.',
      { path: '^packages/gateway/src/(?!entry/)', pathNot: '\\.test\\.ts$' },
      { path: '^packages/gateway/src/entry/' },
    ),
    never(
      'acceptance-is-black-box',
      'Acceptance speaks HTTP: protocol and the rig that starts a gateway, nothing of the gateway or the SDK.',
      { path: '^acceptance/' },
      { path: ours('gateway', 'sdk', 'sender', 'relayer', 'payments') },
    ),
    never(
      'sdk-in-any-browser',
      'The SDK knows protocol and viem, and nothing that only Node has.',
      { path: '^packages/sdk/src', pathNot: '\\.(test|rig)\\.ts$' },
      { path: ours('gateway', 'sender', 'relayer', 'payments', 'contracts') },
    ),
    never(
      'sdk-without-node',
      'The SDK runs in a browser: no Node built-ins.',
      { path: '^packages/sdk/src', pathNot: '\\.(test|rig)\\.ts$' },
      { dependencyTypes: ['core'] },
    ),
    never(
      'sender-stands-alone',
      'The sender is for any daemon: viem and node:sqlite, nothing of ours.',
      { path: '^packages/sender/src', pathNot: '\\.(test|rig)\\.ts$' },
      { path: ours('protocol', 'gateway', 'sdk', 'relayer', 'payments', 'contracts') },
    ),
    never(
      'relayer-is-a-client',
      'The relayer knows the SDK, the sender, protocol and the ABIs.',
      { path: '^packages/relayer/src', pathNot: '\\.(test|rig)\\.ts$' },
      { path: ours('gateway', 'payments') },
    ),
    never(
      'payments-is-a-client',
      'Payments know the sender and the ABIs.',
      { path: '^packages/payments/src', pathNot: '\\.(test|rig)\\.ts$' },
      { path: ours('gateway', 'relayer', 'sdk') },
    ),
    never(
      'contracts-stand-alone',
      'Contracts know nothing that is built on them.',
      { path: '^packages/contracts/src', pathNot: '\\.(test|rig)\\.ts$' },
      { path: ours('gateway', 'sdk', 'sender', 'relayer', 'payments', 'devnet') },
    ),
    never(
      'contracts-without-node',
      'ABIs, addresses and pure functions run in a browser: no Node built-ins, no Anvil.',
      { path: '^packages/contracts/src', pathNot: '\\.(test|rig)\\.ts$' },
      { dependencyTypes: ['core'] },
    ),
    never(
      'devnet-knows-contracts',
      'The devnet is Anvil with the contracts on it, nothing else of ours.',
      { path: '^packages/devnet/src', pathNot: '\\.(test|rig)\\.ts$' },
      { path: '^packages/(?!devnet/|contracts/)|^(acceptance|bench|demo)/' },
    ),
    never(
      'no-devnet-in-production',
      'A development chain is for tests, the demo and the measurements.',
      { path: '^packages/(?!devnet/|testing/)[^/]+/src', pathNot: '\\.(test|rig)\\.ts$' },
      { path: '^packages/devnet/' },
    ),
    never(
      'demo-is-a-user',
      'The demo uses what users use: SDK and contracts; gateway and relayers are processes.',
      { path: '^demo/src', pathNot: '\\.test\\.ts$' },
      { path: ours('gateway', 'sender', 'relayer', 'payments', 'testing', 'bench', 'acceptance') },
    ),
    never(
      'no-testing-in-production',
      'Rigs are for tests.',
      { path: '^packages/(?!testing/)[^/]+/src', pathNot: '\\.(test|rig)\\.ts$' },
      { path: '^packages/testing/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Tests may use rigs freely, and the parser does not know `using`.
    exclude: { path: '(^|/)(dist|data|generated)/|^(packages|demo)/.*\\.test\\.ts$' },
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
