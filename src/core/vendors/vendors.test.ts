import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  getAccounting,
  getServerLabel,
  vendorHasField,
  listRequiredFields,
  VENDOR_IDS,
  getVendorEntry,
  getWire,
} from './vendors';

const words = (path: string): string => readFileSync(path, 'utf8').replace(/\s+/g, ' ');
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly contributes: { readonly configuration: { readonly properties: Readonly<Record<string, unknown>> } };
};

it.each([
  ['', 'OpenAI'],
  ['https://api.openai.com/v1', 'OpenAI'],
  ['http://localhost:11434/v1', 'Ollama'],
  ['http://127.0.0.1:1234/v1/', 'LM Studio'],
  ['https://mine.openai.azure.com/openai/v1', 'Azure'],
  ['https://models.example.com:8443/v1', 'models.example.com:8443'],
  ['http://localhost:9999/v1', 'localhost:9999'],
  ['no address', 'OpenAI'],
])('a profile of OpenAI’s protocol at “%s” is named %s', (baseUrl, name) => {
  expect(getServerLabel('openai', baseUrl)).toBe(name);
});

describe.each(VENDOR_IDS)('the vendor %s', (vendor) => {
  const { label, alsoFor = [], fields, wires, key } = getVendorEntry(vendor);

  it('is named in the README, with servers that speak its protocol', () => {
    const text = words('README.md');
    for (const name of [label, ...alsoFor.map((server) => server.label)]) expect(text).toContain(name);
  });

  it('can be chosen in the settings, and the texts for its fields exist', () => {
    const profiles = JSON.stringify(manifest.contributes.configuration);
    expect(profiles).toContain(`"${vendor}"`);
    const shown = JSON.parse(readFileSync('package.nls.json', 'utf8')) as object;
    for (const field of Object.keys(fields)) expect(shown).toHaveProperty([`setting.profiles.${field}`]);
  });

  it('has a wire format for every model', () => {
    expect(wires.at(-1)).not.toHaveProperty('models');
    expect(getWire(vendor, 'a model of a name that nobody knows')).toBe(wires.at(-1)?.wire);
  });

  it('has an address setting or needs none', () => {
    if (key === 'needed-at-own-endpoint') expect(vendorHasField(vendor, 'baseUrl')).toBe(true);
    for (const field of listRequiredFields(vendor)) expect(vendorHasField(vendor, field)).toBe(true);
  });
});

it('a profile field that is not specific to a vendor exists for all vendors', () => {
  for (const vendor of VENDOR_IDS) expect(vendorHasField(vendor, 'contextWindow')).toBe(true);
  expect(vendorHasField('anthropic', 'region')).toBe(false);
});

it('cached tokens are counted as in the wire format, whichever company made the model', () => {
  expect(getAccounting('anthropic', 'claude-opus-5')).toBe('anthropic');
  expect(getAccounting('openai', 'anthropic/claude-opus-5')).toBe('openai');
});
