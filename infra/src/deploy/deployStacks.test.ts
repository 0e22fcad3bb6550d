import { describe, expect, it } from 'vitest';
import type { Variant } from '../rig/givenSettings.ts';
import { GIVEN_SETTINGS } from '../rig/givenSettings.ts';
import { createAccount } from '../rig/model/account.ts';
import { type Act, type CloudFormationModel, createCloudFormation } from '../rig/model/cloudFormation.ts';
import { createModelControl } from '../rig/model/modelControl.ts';
import { readTemplates } from '../rig/readTemplate.ts';
import { parseStageSettings } from '../settings/stageSettings.ts';
import { deployStacks } from './deployStacks.ts';

type Fault = { readonly stack: string; readonly logicalId: string; readonly moment: 'before' | 'after' };

function createWorld(variant: Variant) {
  const account = createAccount();
  const faults: { making?: Fault; undoing?: boolean } = {};
  const faultOf = ({ stack, logicalId, kind }: Act) => {
    // Once a resource could not be made, nothing can be deleted either.
    if (kind === 'delete') return faults.undoing === true ? 'before' : undefined;
    const { making } = faults;
    return making?.stack === stack && making.logicalId === logicalId ? making.moment : undefined;
  };
  const model = createCloudFormation({ account, faultOf });
  const settings = parseStageSettings(GIVEN_SETTINGS[variant]);
  const stage = { ...settings, isProtected: settings.stage === 'prod' };
  let templates = readTemplates(variant);
  const deploy = async () => {
    const control = createModelControl(model, { stage, templates });
    return await deployStacks({ control, settings, say: () => undefined });
  };
  return {
    account,
    model,
    faults,
    deploy,
    replaceTemplates: (change: (text: string) => string) => {
      templates = JSON.parse(change(JSON.stringify(templates)));
    },
  };
}

/** Every resource of every stack of a variant. */
function everyResource(variant: Variant): { readonly stack: string; readonly logicalId: string }[] {
  const stage = GIVEN_SETTINGS[variant].STAGE;
  return Object.entries(readTemplates(variant)).flatMap(([part, template]) =>
    Object.keys(template?.Resources ?? {}).map((logicalId) => ({
      stack: `prism-gateway-${stage}-${part.toLowerCase()}`,
      logicalId,
    })),
  );
}

/** All is there, once, and belongs to a stack that is complete. */
function expectWhole({ account, model }: Pick<ReturnType<typeof createWorld>, 'account' | 'model'>, variant: Variant) {
  const expected = everyResource(variant).map(({ stack, logicalId }) => `${stack} ${logicalId}`);
  const found = [...model.stacks.values()].flatMap(({ name, things }) =>
    [...things.keys()].map((id) => `${name} ${id}`),
  );
  expect(found.sort()).toEqual(expected.sort());
  expect([...account.things].filter(({ stack }) => stack === undefined)).toEqual([]);
  for (const { status, isProtected } of model.stacks.values()) {
    expect(status).toMatch(/^(?:CREATE|UPDATE)_COMPLETE$/);
    expect(isProtected).toBe(variant === 'prod');
  }
  const tables = [...account.things].filter(({ type }) => type === 'AWS::DynamoDB::Table');
  for (const { properties } of tables) expect(properties.DeletionProtectionEnabled === true).toBe(variant === 'prod');
}

const statuses = (model: CloudFormationModel) => [...model.stacks.values()].map(({ status }) => status);

describe.each(['prod', 'dev'] as const)('a first deployment of %s', (variant) => {
  it('makes everything', async () => {
    const world = createWorld(variant);
    expect(await world.deploy()).toEqual({
      url: variant === 'prod' ? 'https://api.example.org' : expect.any(String),
    });
    expectWhole(world, variant);
  });

  // Shows AWS-4.
  it('that fails at any resource is repaired by the same command', async () => {
    for (const { stack, logicalId } of everyResource(variant)) {
      for (const moment of ['before', 'after'] as const) {
        const world = createWorld(variant);
        world.faults.making = { stack, logicalId, moment };
        expect(await world.deploy(), `${stack} ${logicalId}`).toBeUndefined();
        delete world.faults.making;
        expect(await world.deploy(), `${stack} ${logicalId}, ${moment}`).toBeDefined();
        expectWhole(world, variant);
      }
    }
  });

  it('that can take back nothing either is repaired all the same; what is left over is empty and of no name', async () => {
    for (const { stack, logicalId } of everyResource(variant)) {
      const world = createWorld(variant);
      Object.assign(world.faults, { making: { stack, logicalId, moment: 'after' }, undoing: true });
      expect(await world.deploy(), logicalId).toBeUndefined();
      expect(statuses(world.model)).toContain('ROLLBACK_FAILED');
      world.faults.undoing = false;
      delete world.faults.making;
      expect(await world.deploy(), logicalId).toBeDefined();
      const left = [...world.account.things].filter((thing) => thing.stack === undefined);
      expect(
        left.every(({ type }) => /^AWS::(?:S3::Bucket|SecretsManager::Secret)$/.test(type)),
        logicalId,
      ).toBe(true);
      for (const thing of left) world.account.things.delete(thing);
      expectWhole(world, variant);
    }
  });
});

describe('a further deployment', () => {
  // All that has a description gets another one.
  const describeAnew = (text: string) =>
    text.replaceAll(/"(Description|AlarmDescription|DisplayName|Comment)":"/g, '"$1":"now ');

  it.each([false, true])(
    'that fails anywhere changes nothing, and is repaired (roll-back stuck: %s)',
    async (isStuck) => {
      const first = createWorld('prod');
      await first.deploy();
      const changed = JSON.parse(describeAnew(JSON.stringify(readTemplates('prod'))));
      const before = readTemplates('prod');
      const touched = everyResource('prod').filter(({ stack, logicalId }) => {
        const part = { data: 'Data', service: 'Service', edge: 'Edge' }[stack.split('-').at(-1) ?? ''] as 'Data';
        return (
          JSON.stringify(changed[part].Resources[logicalId]) !== JSON.stringify(before[part]?.Resources[logicalId])
        );
      });
      expect(touched.length).toBeGreaterThan(10);
      for (const { stack, logicalId } of touched) {
        const world = createWorld('prod');
        await world.deploy();
        const names = [...world.account.things].map(({ name }) => name).sort();
        world.replaceTemplates(describeAnew);
        world.faults.making = { stack, logicalId, moment: isStuck ? 'after' : 'before' };
        expect(await world.deploy(), logicalId).toBeUndefined();
        expect(statuses(world.model)).toContain(isStuck ? 'UPDATE_ROLLBACK_FAILED' : 'UPDATE_ROLLBACK_COMPLETE');
        delete world.faults.making;
        expect(await world.deploy(), logicalId).toBeDefined();
        expect([...world.account.things].map(({ name }) => name).sort()).toEqual(names);
        expectWhole(world, 'prod');
      }
    },
  );
});

describe('an installation made by the single stack of before', () => {
  const settings = { ...GIVEN_SETTINGS.prod, BUCKET_NAME: 'prism-gateway-prod-bucket83908e77-x1' };
  const names = {
    tables: ['service-requests-prod', 'service-relayers-prod', 'service-ratelimit-prod'],
    bucket: settings.BUCKET_NAME,
  };

  function createOldWorld() {
    const world = createWorld('prod');
    for (const name of names.tables) {
      const properties = { TableName: name, DeletionProtectionEnabled: true };
      world.account.add({ type: 'AWS::DynamoDB::Table', name, region: 'eu-central-1', properties, content: 'records' });
    }
    world.account.add({
      type: 'AWS::S3::Bucket',
      name: names.bucket,
      region: 'eu-central-1',
      properties: {},
      content: 'objects',
    });
    // What BUCKET_NAME adds to the template.
    world.replaceTemplates((text) =>
      text.replace('"BucketEncryption"', `"BucketName":"${names.bucket}","BucketEncryption"`),
    );
    return world;
  }

  it('is taken over with all that it holds, also after an attempt that failed at any resource', async () => {
    for (const fault of [undefined, ...everyResource('prod')]) {
      const world = createOldWorld();
      if (fault !== undefined && !names.tables.includes(fault.logicalId))
        world.faults.making = { ...fault, moment: 'after' };
      await world.deploy();
      delete world.faults.making;
      expect(await world.deploy()).toBeDefined();
      expectWhole(world, 'prod');
      const held = [...world.account.things].filter(({ content }) => content !== undefined).map(({ name }) => name);
      expect(held.sort()).toEqual([...names.tables, names.bucket].sort());
    }
  });

  it('is not taken from a stack that still has it', async () => {
    const world = createOldWorld();
    for (const thing of world.account.things) thing.stack = 'prism-gateway-prod';
    await expect(world.deploy()).rejects.toThrow('belongs to prism-gateway-prod');
  });
});
