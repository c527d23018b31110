// Network interfaces, by ioctl and by netlink.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq list[50], r = {0};
	struct ifconf conf = {.ifc_len = sizeof list, .ifc_req = list};
	printf("list %d", ioctl(s, SIOCGIFCONF, &conf));
	printf(" %d\n", conf.ifc_len);
	for (int i = 0; i < conf.ifc_len / (int)sizeof *list; i++)
		printf("%s %s\n", list[i].ifr_name, inet_ntoa(((struct sockaddr_in *)&list[i].ifr_addr)->sin_addr));
	conf.ifc_req = 0;
	printf("needed %d", ioctl(s, SIOCGIFCONF, &conf));
	printf(" %d\n", conf.ifc_len);
	strcpy(r.ifr_name, "lo");
	printf("flags %d", ioctl(s, SIOCGIFFLAGS, &r));
	printf(" %x\n", r.ifr_flags);
	printf("mtu %d", ioctl(s, SIOCGIFMTU, &r));
	printf(" %d\n", r.ifr_mtu);
	printf("index %d", ioctl(s, SIOCGIFINDEX, &r));
	printf(" %d %d\n", r.ifr_ifindex, if_nametoindex("lo"));
	char name[IF_NAMESIZE] = "";
	printf("name %s\n", if_indextoname(1, name) ? name : "none");
	strcpy(r.ifr_name, "none9");
	printf("none %d", ioctl(s, SIOCGIFADDR, &r));
	printf(" %d\n", errno);
	struct ifaddrs *a;
	printf("netlink %d\n", getifaddrs(&a));
	for (; a; a = a->ifa_next) printf("%s %d %x\n", a->ifa_name, a->ifa_addr ? a->ifa_addr->sa_family : 0, a->ifa_flags);
}
