import { describe, expect, it } from 'vitest';
import { STAGES } from '../rig/givenSettings.ts';
import { findResources } from '../rig/readTemplate.ts';

describe.each(STAGES)('secrets of %s', (stage) => {
  const secrets = Object.values(findResources(stage, 'AWS::SecretsManager::Secret'));

  it('are made by AWS, long enough for prod and plain enough for a header', () => {
    expect(secrets).toHaveLength(2);
    for (const { Properties } of secrets) {
      expect(Properties.GenerateSecretString).toEqual({ PasswordLength: 48, ExcludePunctuation: true });
      expect(Properties).not.toHaveProperty('SecretString');
    }
  });

  it('outlive the stack in prod', () => {
    for (const { DeletionPolicy } of secrets) expect(DeletionPolicy).toBe(stage === 'prod' ? 'Retain' : 'Delete');
  });
});
