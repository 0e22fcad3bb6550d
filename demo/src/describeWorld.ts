import { WORLD } from './world/settings.ts';
import type { World } from './world/startWorld.ts';

/** Writes what can be played with while the demo is left running. */
export function describeWorld(world: World, dir: string): readonly string[] {
  const { rpcUrl, gateway, deployment, users, relayers } = world;
  const contracts = (['forwarder', 'cloud', 'core', 'creditToken', 'exchange', 'stablecoin', 'treasury'] as const).map(
    (name) => `  ${name.padEnd(14)}${deployment[name]}`,
  );
  return [
    `RPC           ${rpcUrl} (chain id ${deployment.chainId}; requests name it ${WORLD.chainName})`,
    `gateway       ${gateway.url} (API reference: ${gateway.url}/docs)`,
    `admin key     ${gateway.adminKey}`,
    `logs, data    ${dir}`,
    'contracts',
    ...contracts,
    'relayers, both at work',
    ...[relayers.official, relayers.other].map(({ name, account }) => `  ${name.padEnd(14)}${account.address}`),
    'users; the keys were made for this run',
    ...users.map(({ name, account, privateKey }) => `  ${name.padEnd(14)}${account.address}  ${privateKey}`),
    '',
    'Requests of the first user, newest first:',
    `  curl -s '${gateway.url}/requests?signer=${users[0]?.account.address}&order=desc&limit=3'`,
    'Credits of the treasury, in base units:',
    `  curl -s ${rpcUrl} -H 'Content-Type: application/json' -d '${JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_call',
      // balanceOf(address)
      params: [
        { to: deployment.creditToken, data: `0x70a08231${deployment.treasury.slice(2).padStart(64, '0')}` },
        'latest',
      ],
    })}'`,
  ];
}
