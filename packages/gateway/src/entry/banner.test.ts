import type { Environment } from '@prism-gateway/node/settings';
import { expect, test } from 'vitest';
import { writeBanner } from './banner.ts';
import { parseSettings } from './settings.ts';

function commandsOf(environment: Environment, { publicUrl = 'http://127.0.0.1:8787', usesDevIssuer = true } = {}) {
  const banner = writeBanner({ settings: parseSettings(environment), publicUrl, usesDevIssuer });
  const [, after = ''] = banner.split('in another terminal:\n');
  return after
    .split('\n\n')[0]
    ?.split('\n')
    .map((line) => line.trim());
}

test('by default the three commands need nothing more', () => {
  expect(commandsOf({})).toEqual([
    'npx prism walkthrough',
    'curl -s http://127.0.0.1:8787/ready',
    'npx prism token alice',
  ]);
});

test('they name the gateway where it is not at the default address', () => {
  expect(commandsOf({}, { publicUrl: 'http://127.0.0.1:9000' })).toEqual([
    'npx prism walkthrough --url http://127.0.0.1:9000',
    'curl -s http://127.0.0.1:9000/ready',
    'npx prism token alice --url http://127.0.0.1:9000',
  ]);
});

test('they ask for what another terminal does not have, and tell no key', () => {
  const environment = { ADMIN_API_KEY: 'a-key-of-mine', IDENTITY_ISSUER: 'https://id.example', IDENTITY_APP_ID: 'app' };
  expect(commandsOf(environment, { usesDevIssuer: false })).toEqual([
    'ADMIN_API_KEY=… npx prism walkthrough --token ACCESS_TOKEN',
    'curl -s http://127.0.0.1:8787/ready',
    'curl -s http://127.0.0.1:8787/openapi.json',
  ]);
});
