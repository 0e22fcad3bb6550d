import { describe, expect, it } from 'vitest';
import { STAGES } from '../rig/exampleSettings.ts';
import { findResources } from '../rig/readTemplate.ts';

describe.each(STAGES)('secrets of %s', (stage) => {
  const secrets = Object.values(findResources(stage, 'AWS::SecretsManager::Secret'));

  it('are made by AWS, long enough for prod and plain enough for a header', () => {
    // The third is the edge's.
    expect(secrets).toHaveLength(stage === 'prod' ? 3 : 2);
    for (const { Properties } of secrets) {
      expect(Properties.GenerateSecretString).toEqual({ PasswordLength: 48, ExcludePunctuation: true });
      expect(Properties).not.toHaveProperty('SecretString');
    }
  });

  it('outlive the stack in prod, but not a first attempt at it that fails', () => {
    const expected = stage === 'prod' ? 'RetainExceptOnCreate' : 'Delete';
    for (const { DeletionPolicy } of secrets) expect(DeletionPolicy).toBe(expected);
  });
});

describe('the origin secret', () => {
  it('is where CloudFront’s stack reads it', () => {
    const replicas = Object.values(findResources('prod', 'AWS::SecretsManager::Secret')).map(
      ({ Properties }) => Properties.ReplicaRegions,
    );
    expect(replicas.filter((regions) => regions !== undefined)).toEqual([[{ Region: 'us-east-1' }]]);
  });
});
