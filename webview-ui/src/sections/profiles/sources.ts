/** New models come from vendors, or from servers that use a vendor's protocol. */
import { getVendorEntry, VENDOR_IDS, type Vendor } from '../../../../src/core/vendors/vendors';
import { t } from '../../l10n';

export interface ModelSource {
  readonly label: string;
  readonly vendor: Vendor;
  /**
   * The server's usual address. Empty: the user must enter one; absent: the vendor's own is used.
   */
  readonly address?: string;
  /** Example of an address that differs for everyone. */
  readonly addressForm?: string;
  /** What users must know about the server's context window. */
  readonly windowNote?: string;
  /** True if the server runs on this machine and usually needs no key. */
  readonly isLocal?: boolean;
}

export const listModelSources = (): readonly ModelSource[] => [
  ...VENDOR_IDS.flatMap((vendor): ModelSource[] => {
    const { label, alsoFor = [] } = getVendorEntry(vendor);
    return [
      { label, vendor },
      ...alsoFor.map(({ label: name, address, addressForm, windowNote }) => ({
        label: name,
        vendor,
        address: address ?? '',
        ...(addressForm !== undefined && { addressForm }),
        ...(windowNote !== undefined && { windowNote }),
        isLocal: address !== undefined,
      })),
    ];
  }),
  { label: t('Another server that speaks OpenAI’s protocol'), vendor: 'openai', address: '' },
];

/** @param server the server's label in the list of sources */
export function getWindowNoteOfServer(server: string): string | undefined {
  const note = listModelSources().find(({ label }) => label === server)?.windowNote;
  return note === undefined ? undefined : t(note);
}
