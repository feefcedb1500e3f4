import type { ReactNode } from 'react';

interface SideBySideProps {
  /** The table's name for screen readers. */
  readonly label: string;
  /** Column names, one per compared item. */
  readonly names: readonly string[];
  readonly className?: string;
  readonly caption?: string;
  readonly children: ReactNode;
}

/** A comparison by columns, which scrolls if it is too wide. */
export const SideBySide = ({ label, names, className = '', caption, children }: SideBySideProps): ReactNode => (
  <div className="table-frame" tabIndex={0} role="region" aria-label={label}>
    <table className={`table ${className}`.trimEnd()}>
      {caption !== undefined && <caption translate="no">{caption}</caption>}
      <thead>
        <tr>
          <td />
          {names.map((name, index) => (
            <th key={index} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      {children}
    </table>
  </div>
);

interface SideBySideRowProps {
  readonly name: string;
  /** Values in the order of the columns. */
  readonly values: readonly string[];
}

export const SideBySideRow = ({ name, values }: SideBySideRowProps): ReactNode => (
  <tr>
    <th scope="row">{name}</th>
    {values.map((value, index) => (
      <td key={index}>{value}</td>
    ))}
  </tr>
);
