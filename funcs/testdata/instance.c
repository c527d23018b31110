/* Functions whose inputs and outputs are known. No library. */
typedef struct account { long id; int balance; int limit; struct account *next; } account;

account accounts[4];
account *head = &accounts[2];
int total, log_pos;
char log_buf[64];
double rate = 1.5;

#define FN __attribute__((noinline, noipa))

/* in: acct, amount, acct->balance; out: ret, acct->balance, total; total is an input too */
FN int deposit(account *acct, int amount)
{
	acct->balance += amount;
	total += amount;
	return acct->balance;
}

/* writes before it reads: total is an output only */
FN void reset(void)
{
	total = 0;
	log_pos = total + 1;
}

FN double interest(account *acct, double years)
{
	return acct->balance * rate * years;
}

/* through two pointers */
FN long follow(void)
{
	return head->next->id;
}

/* own stack is no input; an uninitialised element is read */
FN int scratch(int n)
{
	volatile int tmp[8];
	tmp[1] = n;
	return tmp[1] + (tmp[2] & 0);
}

/* composition: what deposit writes and this reads is no input */
FN int twice(account *acct)
{
	deposit(acct, 1);
	return deposit(acct, 2) + acct->limit;
}

/* an output in the caller's frame */
FN void set(int *where, int v) { *where = v; }

FN int caller(int v)
{
	int here = v;
	set(&here, v + 1);
	return here;
}

FN int sum(int *v, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		s += v[i];
		total = s;
	}
	return s;
}

void _start(void)
{
	for (;;)
		;
}
