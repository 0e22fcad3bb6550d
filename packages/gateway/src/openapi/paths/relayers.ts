import { addRelayerSchema, parseWith, type RelayerRemoved, relayerPathSchema } from '@prism-gateway/protocol';
import { renderRelayer } from '../../http/render.ts';
import type { RelayerRecord } from '../../ports/relayerStore.ts';
import { describeRoute } from '../describeRoute.ts';
import { type Paths, schemaRef } from '../document.ts';
import { bodyFaultsExample, createAdminFailures, faultsExample } from '../examples/failures.ts';
import { jsonBody } from '../parts/parameters.ts';
import { TAGS } from '../text/descriptions.ts';

const LABELLED: RelayerRecord = {
  address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  label: 'relayer-eu-1',
  createdAt: Date.parse('2026-01-01T00:00:00.000Z'),
  updatedAt: Date.parse('2026-01-01T00:00:00.000Z'),
};
const { label: _, ...WITHOUT_LABEL } = LABELLED;
const OTHER: RelayerRecord = { ...WITHOUT_LABEL, address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' };

const REMOVED: RelayerRemoved = {
  message: 'The relayer is not on the whitelist any more.',
  address: LABELLED.address,
};

const unauthorized = () => ({
  description: 'The key is missing or wrong.',
  examples: createAdminFailures(),
});

/** Describes `POST /admin/relayers`. */
export function describeAddRelayer(): Paths {
  const { address, label } = LABELLED;
  const refused = (text: string) =>
    bodyFaultsExample('Several faults, each named', text, (json) => parseWith(addRelayerSchema, json));
  return describeRoute('addRelayer', {
    tag: TAGS.relayers,
    summary: 'Whitelist a relayer',
    description:
      'From now on the relayer may list and claim. A known address is answered with 201 too: its label is replaced (or, without one, removed), and its `createdAt` kept. The address is stored and returned with the checksum of EIP-55.',
    requestBody: jsonBody('AddRelayerBody', 'The relayer', {
      labelled: { summary: 'With a name for people', value: { address: address.toLowerCase(), label } },
      address: { summary: 'The address alone', value: { address: OTHER.address } },
    }),
    success: {
      description: 'The record as it is now.',
      schema: 'Relayer',
      examples: {
        labelled: { summary: 'With a name for people', value: renderRelayer(LABELLED) },
        address: { summary: 'The address alone', value: renderRelayer(OTHER) },
      },
    },
    failures: {
      400: {
        description: 'The body is not valid.',
        examples: { everyFault: refused('{"address":"relayer.eth","label":"","role":"official"}') },
      },
      401: unauthorized(),
    },
  });
}

/** Describes `GET /admin/relayers`. */
export function describeListRelayers(): Paths {
  return describeRoute('listRelayers', {
    tag: TAGS.relayers,
    summary: 'List the whitelist',
    description: 'The whole whitelist in one answer, oldest first.',
    success: {
      description: 'Every whitelisted relayer.',
      schema: 'RelayerList',
      examples: {
        two: {
          summary: 'Two relayers',
          value: { relayers: [renderRelayer(LABELLED), renderRelayer(OTHER)], count: 2 },
        },
        none: { summary: 'An empty whitelist', value: { relayers: [], count: 0 } },
      },
    },
    failures: { 401: unauthorized() },
  });
}

/** Describes `DELETE /admin/relayers/{address}`. */
export function describeRemoveRelayer(): Paths {
  const parsed = parseWith(relayerPathSchema, { address: '0x70' });
  return describeRoute('removeRelayer', {
    tag: TAGS.relayers,
    summary: 'Take a relayer off the whitelist',
    description:
      'From now on its calls are refused; what it has claimed stays claimed. An address that is not on the whitelist is answered with 200 all the same.',
    parameters: [
      {
        name: 'address',
        in: 'path',
        description: "The relayer's address, in any letter case.",
        required: true,
        schema: schemaRef('Address'),
        example: LABELLED.address,
      },
    ],
    success: {
      description: 'It is not on the whitelist.',
      schema: 'RelayerRemoved',
      examples: { removed: { summary: 'Removed, or never there', value: REMOVED } },
    },
    failures: {
      400: { description: 'Not an address.', examples: { notAddress: faultsExample('Not an address', parsed) } },
      401: unauthorized(),
    },
  });
}
