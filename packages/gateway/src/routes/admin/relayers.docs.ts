import {
  addRelayerSchema,
  parseWith,
  type RelayerReleased,
  type RelayerRemoved,
  relayerPathSchema,
  suspendRelayerSchema,
} from '@prism-gateway/protocol';
import { relayerNotFound } from '../../http/errors.ts';
import { renderRelayer } from '../../http/render.ts';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import { type Parameter, schemaRef } from '../../openapi/document.ts';
import { bodyFaultsExample, errorExample, faultsExample } from '../../openapi/examples/failures.ts';
import { jsonBody } from '../../openapi/parts/parameters.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';
import type { RelayerRecord } from '../../ports/relayerStore.ts';

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

const SUSPENDED: RelayerRecord = {
  ...LABELLED,
  updatedAt: Date.parse('2026-01-02T08:00:00.000Z'),
  suspendedAt: Date.parse('2026-01-02T08:00:00.000Z'),
  suspendReason: 'its key was seen in a log',
};
const RELEASED: RelayerReleased = { address: LABELLED.address, released: 12, complete: true };

const ADDRESS_PARAMETER: Parameter = {
  name: 'address',
  in: 'path',
  description: "The relayer's address, in any letter case.",
  required: true,
  schema: schemaRef('Address'),
  example: LABELLED.address,
};

const notAddress = () => {
  const parsed = parseWith(relayerPathSchema, { address: '0x70' });
  return { description: 'Not an address.', examples: { notAddress: faultsExample('Not an address', parsed) } };
};

const unknown = () => ({
  description: 'It is not on the whitelist.',
  examples: { unknown: errorExample('An address that was never added', relayerNotFound(OTHER.address)) },
});

/** Describes `POST /admin/relayers`. */
export function describeAddRelayer(): RouteDescription {
  const { address, label } = LABELLED;
  const refused = (text: string) =>
    bodyFaultsExample('Several faults, each named', text, (json) => parseWith(addRelayerSchema, json));
  return {
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
    },
  };
}

/** Describes `GET /admin/relayers`. */
export function describeListRelayers(): RouteDescription {
  return {
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
  };
}

/** Describes `GET /admin/relayers/{address}`. */
export function describeReadRelayer(): RouteDescription {
  return {
    tag: TAGS.relayers,
    summary: 'Read one relayer',
    description: 'Its record on the whitelist.',
    parameters: [ADDRESS_PARAMETER],
    success: {
      description: 'The record.',
      schema: 'Relayer',
      examples: { labelled: { summary: 'With a name for people', value: renderRelayer(LABELLED) } },
    },
    failures: { 400: notAddress(), 404: unknown() },
  };
}

/** Describes `DELETE /admin/relayers/{address}`. */
export function describeRemoveRelayer(): RouteDescription {
  return {
    tag: TAGS.relayers,
    summary: 'Take a relayer off the whitelist',
    description:
      'From now on its calls are refused; what it has claimed stays claimed. An address that is not on the whitelist is answered with 200 all the same.',
    parameters: [ADDRESS_PARAMETER],
    success: {
      description: 'It is not on the whitelist.',
      schema: 'RelayerRemoved',
      examples: { removed: { summary: 'Removed, or never there', value: REMOVED } },
    },
    failures: {
      400: notAddress(),
    },
  };
}

/** Describes `POST /admin/relayers/{address}/suspend`. */
export function describeSuspendRelayer(): RouteDescription {
  const refused = (summary: string, text: string) =>
    bodyFaultsExample(summary, text, (json) => parseWith(suspendRelayerSchema, json));
  return {
    tag: TAGS.relayers,
    summary: 'Suspend a relayer',
    description:
      'The relayer stays on the whitelist, and its calls are refused with 401 and the reason until it is resumed. What it has claimed stays claimed until its lease lapses, or is released. A second suspension replaces the reason.',
    parameters: [ADDRESS_PARAMETER],
    requestBody: jsonBody('SuspendRelayerBody', 'Why', {
      leaked: { summary: 'A leaked key', value: { reason: SUSPENDED.suspendReason } },
    }),
    success: {
      description: 'The record as it is now.',
      schema: 'Relayer',
      examples: { suspended: { summary: 'Suspended', value: renderRelayer(SUSPENDED) } },
    },
    failures: {
      400: {
        description: 'Not an address, or no reason.',
        examples: { ...notAddress().examples, noReason: refused('No reason', '{}') },
      },
      404: unknown(),
    },
  };
}

/** Describes `POST /admin/relayers/{address}/resume`. */
export function describeResumeRelayer(): RouteDescription {
  return {
    tag: TAGS.relayers,
    summary: 'End a suspension',
    description: 'The relayer may call again. The call has no body; a relayer that is not suspended stays as it is.',
    parameters: [ADDRESS_PARAMETER],
    success: {
      description: 'The record as it is now.',
      schema: 'Relayer',
      examples: { resumed: { summary: 'On the whitelist', value: renderRelayer(LABELLED) } },
    },
    failures: { 400: notAddress(), 404: unknown() },
  };
}

/** Describes `POST /admin/relayers/{address}/release`. */
export function describeReleaseRelayer(): RouteDescription {
  return {
    tag: TAGS.relayers,
    summary: 'Give back all that a relayer holds',
    description:
      'What the relayer has claimed is `pending` again, also where it is suspended or not on the whitelist any more. One call releases at most 1000 requests; `complete` is false where there may be more. The call has no body.',
    parameters: [ADDRESS_PARAMETER],
    success: {
      description: 'How many requests were released.',
      schema: 'RelayerReleased',
      examples: { released: { summary: 'Twelve requests', value: RELEASED } },
    },
    failures: { 400: notAddress() },
  };
}
