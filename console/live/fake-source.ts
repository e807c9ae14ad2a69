/** For tests: a source that a test opens, ends, and lets tell. */
export class FakeSource extends EventTarget {
  static readonly OPEN = 1;
  static made: FakeSource[] = [];
  readonly url: string;
  readyState = 0;
  onopen: (() => void) | null = null;
  onerror: (() => Promise<void>) | null = null;

  constructor(url: string) {
    super();
    this.url = url;
    FakeSource.made.push(this);
  }
  close(): void {
    this.readyState = 2;
  }
  opened(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  tell(name: string, data: unknown, lastEventId: string): void {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data), lastEventId }));
  }
}
