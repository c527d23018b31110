# Objects, dictionaries, strings and sorting, by the interpreter; two threads.
import json
import threading


class Item:
    def __init__(self, n):
        self.n, self.name = n, "item%d" % n

    def key(self):
        return self.name[::-1]


def work(out, n):
    items = [Item(i * 7919 % 10007) for i in range(n)]
    items.sort(key=Item.key)
    counts = {}
    for i in items:
        counts[i.n % 97] = counts.get(i.n % 97, 0) + len(i.name)
    out.append(len(json.dumps(counts)) + sum(i.n for i in items[::3]))


out = []
threads = [threading.Thread(target=work, args=(out, 4000)) for _ in range(2)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sorted(out))
