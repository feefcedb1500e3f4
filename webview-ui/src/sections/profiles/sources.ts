/** Sources of new models: vendors, and servers that speak a vendor's protocol. */
import { getVendorEntry, VENDOR_IDS, type Vendor } from '../../../../src/core/vendors/vendors';
import { t } from '../../l10n';

export interface Source {
  readonly label: string;
  readonly vendor: Vendor;
  /** The usual address; empty: the user must enter one; absent: the vendor's own. */
  readonly address?: string;
  /** Example of an address that differs for everyone. */
  readonly addressForm?: string;
  /** The server runs on this machine and usually needs no key. */
  readonly isLocal?: boolean;
}

export const listSources = (): readonly Source[] => [
  ...VENDOR_IDS.flatMap((vendor): Source[] => {
    const { label, alsoFor = [] } = getVendorEntry(vendor);
    return [
      { label, vendor },
      ...alsoFor.map(({ label: name, address, addressForm }) => ({
        label: name,
        vendor,
        address: address ?? '',
        ...(addressForm !== undefined && { addressForm }),
        isLocal: address !== undefined,
      })),
    ];
  }),
  { label: t('Another server that speaks OpenAI’s protocol'), vendor: 'openai', address: '' },
];

/**
 * What to know about a server's context window; empty if there is nothing to know. Ollama cuts a longer prompt without an
 * error; its default depends on the video memory (docs.ollama.com/context-length).
 */
export const windowNote = (server: string): string =>
  server === 'Ollama'
    ? t(
        'Ollama cuts longer prompts at its own context length, which is 4,096 tokens with less than 24 GiB of video memory. Set OLLAMA_CONTEXT_LENGTH where Ollama runs, and the same number as the model’s context window here.',
      )
    : '';
